#!/usr/bin/env bash
# Stop the engine that docker-engine.sh started, and no other: it is found by its own pid file. Its images stay.
set -euo pipefail
ENGINE_DIR=${ENGINE_DIR:-${TMPDIR:-/tmp}/skilleval-engine}
export DOCKER_HOST=unix://$ENGINE_DIR/docker.sock
[ -f "$ENGINE_DIR/docker.pid" ] || { echo "no engine runs in $ENGINE_DIR" >&2; exit 0; }
engine=$(cat "$ENGINE_DIR/docker.pid")
/usr/bin/docker ps --all --quiet | xargs --no-run-if-empty /usr/bin/docker rm --force >/dev/null
kill "$engine"
for _ in $(seq 100); do kill -0 "$engine" 2>/dev/null || exit 0; sleep 0.1; done
echo "the engine $engine has not ended" >&2
exit 1
