#!/usr/bin/env bash
# Stop the Slurm that slurm-start.sh started, and no other: its programs are found by their own pid files.
set -euo pipefail
SLURM_DIR=${SLURM_DIR:-${TMPDIR:-/tmp}/skilleval-slurm}
export SLURM_CONF=$SLURM_DIR/slurm.conf

# A pid may belong to somebody else by now: it has to be the program that wrote the file.
stop() {
  local file=$1 name=$2 pid
  [ -f "$file" ] || return 0
  pid=$(cat "$file")
  if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$name" ]; then
    kill "$pid"
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    if kill -0 "$pid" 2>/dev/null; then echo "$name $pid has not ended" >&2; exit 1; fi
  fi
  rm -f "$file"
}

if [ -f "$SLURM_DIR/slurmctld.pid" ] && [ -d "/proc/$(cat "$SLURM_DIR/slurmctld.pid")" ]; then
  timeout 10 scancel --user="$(id -un)" 2>/dev/null || true # its jobs end with it
fi
stop "$SLURM_DIR/slurmd.pid" slurmd
stop "$SLURM_DIR/slurmctld.pid" slurmctld
stop "$SLURM_DIR/munge/pid" munged
