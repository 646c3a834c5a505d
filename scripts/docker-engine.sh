#!/usr/bin/env bash
# Install Debian's Docker engine if it is not there, start it, and build the Python base image from packages alone.
# Needs root on Debian; no systemd, no terminal. Safe to run again. Prints the line that names the engine: eval "$(…)".
#   ENGINE_DIR      where all of the engine's state goes (default: skilleval-engine in the folder for temporary files)
#   BASE_IMAGE      the image to build (default: skilleval-base:py311)
#   WITH_RUNSC=1    install gVisor too, for sandbox.runtime=runsc
set -euo pipefail
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1700000000} # the same packages then give the same layer, byte for byte
export DEBIAN_FRONTEND=noninteractive
ENGINE_DIR=${ENGINE_DIR:-${TMPDIR:-/tmp}/skilleval-engine}
BASE_IMAGE=${BASE_IMAGE:-skilleval-base:py311}
SOURCES=/etc/apt/sources.list.d/debian.sources
DOCKER=/usr/bin/docker # Debian's own: an older program of that name may come first on the PATH
SOCKET=$ENGINE_DIR/docker.sock
export DOCKER_HOST=unix://$SOCKET
say() { printf '%s docker-engine: %s\n' "$(date +%T)" "$*" >&2; }

install_missing() {
  local missing=()
  command -v dockerd >/dev/null || missing+=(docker.io)
  command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
  if [ "${WITH_RUNSC:-0}" = 1 ] && ! command -v runsc >/dev/null; then missing+=(runsc); fi
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || { say "install ${missing[*]} first"; exit 1; }
  say "installing ${missing[*]}"
  apt-get update -qq </dev/null >&2
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >"$ENGINE_DIR/install.log" 2>&1 ||
    { tail -30 "$ENGINE_DIR/install.log" >&2; exit 1; }
}

answers() { "$DOCKER" version >/dev/null 2>&1; }

start_engine() {
  rm -f "$ENGINE_DIR/docker.pid" # an engine that was killed leaves it behind
  cat >"$ENGINE_DIR/daemon.json" <<JSON
{ "data-root": "$ENGINE_DIR/data", "exec-root": "$ENGINE_DIR/exec", "pidfile": "$ENGINE_DIR/docker.pid",
  "hosts": ["unix://$SOCKET"], "bridge": "none", "userland-proxy": false,
  "iptables": false, "ip6tables": false, "ip-forward": false, "ip-masq": false,
  "storage-driver": "${STORAGE_DRIVER:-overlay2}", "exec-opts": ["native.cgroupdriver=cgroupfs"],
  "log-driver": "json-file", "log-opts": {"max-size": "4m", "max-file": "1"}, "no-new-privileges": true,
  "runtimes": {"runsc": {"path": "/usr/bin/runsc", "runtimeArgs": ["--platform=${RUNSC_PLATFORM:-ptrace}", "--network=none"]}} }
JSON
  say "starting the engine in $ENGINE_DIR"
  setsid nohup dockerd --config-file "$ENGINE_DIR/daemon.json" </dev/null >"$ENGINE_DIR/dockerd.log" 2>&1 &
  for _ in $(seq 300); do answers && return; sleep 0.1; done
  say "it does not answer:"
  tail -20 "$ENGINE_DIR/dockerd.log" >&2
  exit 1
}

# Packages are only unpacked, none of their scripts is run: 10 s instead of more than a minute.
pack_base_image() {
  mmdebstrap --quiet --mode=root --variant=extract --format=tar \
    --include=python3,python3-minimal,libpython3-stdlib,dash,coreutils,base-files,sed,grep,findutils,gawk \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --setup-hook='mkdir -p "$1"/usr/bin "$1"/usr/sbin "$1"/usr/lib "$1"/usr/lib64' \
    --setup-hook='for name in bin sbin lib lib64; do ln -s "usr/$name" "$1/$name"; done' \
    --customize-hook='printf "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n" >"$1"/etc/passwd' \
    --customize-hook='printf "root:x:0:\nnogroup:x:65534:\n" >"$1"/etc/group' \
    --customize-hook='ln -sf dash "$1"/bin/sh; rm -rf "$1"/usr/share/doc "$1"/usr/share/man "$1"/usr/share/locale "$1"/etc/apt' \
    bookworm - "$SOURCES" </dev/null 2>"$ENGINE_DIR/mmdebstrap.log"
}

build_base_image() {
  say "building $BASE_IMAGE"
  pack_base_image | "$DOCKER" import --change 'ENV PATH=/usr/bin:/bin LANG=C.UTF-8' --change 'USER 10001:10001' - "$BASE_IMAGE" >&2 ||
    { tail -20 "$ENGINE_DIR/mmdebstrap.log" >&2; exit 1; }
}

mkdir -p "$ENGINE_DIR"
install_missing
answers || start_engine
"$DOCKER" image inspect "$BASE_IMAGE" >/dev/null 2>&1 || build_base_image
"$DOCKER" run --rm --network none --read-only "$BASE_IMAGE" python3 -c 'import ssl, sqlite3, json' </dev/null >&2
say "ready"
echo "export DOCKER_HOST=$DOCKER_HOST"
