#!/usr/bin/env bash
# Measure the example instruction skills with and without on the scripted model: no key, no network, no cost.
# Further arguments go to `skilleval eval`. The server takes port 8377, or a free one where somebody else has it.
set -euo pipefail
cd "$(dirname "$0")/.."
bin="${VENV:-.venv}/bin"
scratch=$(mktemp -d)
server=""
stop() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" || true; fi
  rm -rf "$scratch"
}
trap stop EXIT

start() {
  "$bin/python" scripts/model_server.py "$1" --latency-ms 20 >"$scratch/ready" 2>"$scratch/said" &
  server=$!
  while [ ! -s "$scratch/ready" ]; do
    kill -0 "$server" 2>/dev/null || return 1
    sleep 0.05
  done
}

start 8377 || start 0 || { cat "$scratch/said" >&2; exit 1; }
read -r _ url <"$scratch/ready"
echo "the scripted model listens at $url"
"$bin/skilleval" eval skill_set=examples_md model=local "model.base_url=$url" --baseline --repeats 3 \
  'report.formats=[json,markdown,html]' "$@"
