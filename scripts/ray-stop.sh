#!/usr/bin/env bash
# Stop the Ray that ray-start.sh started, and no other: it is found by its own pid file.
set -euo pipefail
RAY_DIR=${RAY_DIR:-${TMPDIR:-/tmp}/skilleval-ray}
[ -f "$RAY_DIR/pid" ] || { echo "no Ray runs in $RAY_DIR" >&2; exit 0; }
ray=$(cat "$RAY_DIR/pid")
# A pid may belong to somebody else by now.
if tr '\0' ' ' <"/proc/$ray/cmdline" 2>/dev/null | grep -q -- "--temp-dir=$RAY_DIR"; then
  kill "$ray"
  for _ in $(seq 200); do kill -0 "$ray" 2>/dev/null || break; sleep 0.1; done
  if kill -0 "$ray" 2>/dev/null; then echo "ray $ray has not ended" >&2; exit 1; fi
fi
rm -f "$RAY_DIR/pid"
