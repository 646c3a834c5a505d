#!/usr/bin/env bash
# Start a Ray cluster of this machine alone; it listens on 127.0.0.1 and sends no statistics. Needs the extra `ray`.
# Safe to run again. Prints the lines that name the cluster: eval "$(scripts/ray-start.sh)".
#   RAY_DIR     where all of its state goes (default: skilleval-ray in the folder for temporary files; a short path)
#   RAY_PORT    where it listens (default: 26379)
#   RAY_CPUS    jobs at once (default: 2)
set -euo pipefail
RAY_DIR=${RAY_DIR:-${TMPDIR:-/tmp}/skilleval-ray}
RAY_PORT=${RAY_PORT:-26379}
RAY=$(realpath "${VENV:-.venv}/bin/ray")
export RAY_USAGE_STATS_ENABLED=0
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$RAY_DIR/token # other users of this machine stay out
say() { printf '%s ray: %s\n' "$(date +%T)" "$*" >&2; }

answers() { timeout 20 "$RAY" health-check --address "127.0.0.1:$RAY_PORT" >/dev/null 2>&1; }
lives() { [ -f "$RAY_DIR/pid" ] && kill -0 "$(cat "$RAY_DIR/pid")" 2>/dev/null; }

mkdir -p "$RAY_DIR"
[ -s "$RAY_AUTH_TOKEN_PATH" ] || (umask 077; head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$RAY_AUTH_TOKEN_PATH")
if ! lives; then
  say "starting in $RAY_DIR"
  # Blocked, it ends with all of its processes when it is killed: `ray stop` would end those of others too.
  cd "$RAY_DIR"
  setsid nohup "$RAY" start --head --block --node-ip-address=127.0.0.1 --port="$RAY_PORT" --num-cpus="${RAY_CPUS:-2}" \
    --include-dashboard=false --disable-usage-stats --temp-dir="$RAY_DIR" </dev/null >"$RAY_DIR/log" 2>&1 &
  echo $! >"$RAY_DIR/pid"
fi
for _ in $(seq 60); do answers && break; lives || break; sleep 1; done
answers || { say "it does not answer:"; tail -n 20 "$RAY_DIR/log" >&2; exit 1; }
say "ready"
echo "export RAY_ADDRESS=127.0.0.1:$RAY_PORT RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$RAY_AUTH_TOKEN_PATH"
