#!/usr/bin/env bash
# Start a Slurm of one node on this machine, with Debian's packages (installed if they are not there). Needs root on
# Debian; no systemd. Safe to run again. Prints the lines that name the cluster: eval "$(scripts/slurm-start.sh)".
#   SLURM_DIR      where all of its state goes (default: skilleval-slurm in the folder for temporary files)
#   SLURM_CPUS     cores that its jobs may take (default: 2)
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
SLURM_DIR=${SLURM_DIR:-${TMPDIR:-/tmp}/skilleval-slurm}
SLURM_CPUS=${SLURM_CPUS:-2}
export SLURM_CONF=$SLURM_DIR/slurm.conf
say() { printf '%s slurm: %s\n' "$(date +%T)" "$*" >&2; }

install_missing() {
  if command -v slurmctld slurmd munged sbatch >/dev/null; then return; fi
  command -v apt-get >/dev/null || { say "install slurmctld, slurmd, munge and slurm-client first"; exit 1; }
  say "installing slurmctld, slurmd, munge, slurm-client"
  apt-get update -qq </dev/null >&2
  apt-get install -y -qq --no-install-recommends slurmctld slurmd munge slurm-client \
    </dev/null >"$SLURM_DIR/install.log" 2>&1 || { tail -30 "$SLURM_DIR/install.log" >&2; exit 1; }
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# A key and a socket of its own: another munged of this machine is left alone.
start_munge() {
  local place=$SLURM_DIR/munge
  install -d -o munge -g munge -m 0711 "$place"
  [ -f "$place/key" ] || head -c 1024 /dev/urandom >"$place/key"
  chown munge: "$place/key"
  chmod 0400 "$place/key"
  setpriv --reuid munge --regid munge --clear-groups munged --force --key-file="$place/key" \
    --socket="$place/socket" --pid-file="$place/pid" --log-file="$place/log" --seed-file="$place/seed"
}

write_settings() {
  local host
  host=$(hostname -s)
  cat >"$SLURM_CONF" <<CONF
ClusterName=skilleval
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$SLURM_DIR/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$SLURM_DIR/state
SlurmdSpoolDir=$SLURM_DIR/spool
SlurmctldPidFile=$SLURM_DIR/slurmctld.pid
SlurmdPidFile=$SLURM_DIR/slurmd.pid
SlurmctldLogFile=$SLURM_DIR/slurmctld.log
SlurmdLogFile=$SLURM_DIR/slurmd.log
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=100000
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=$SLURM_CPUS State=UNKNOWN
PartitionName=debug Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
}

is_ready() { [ -f "$SLURM_DIR/slurmctld.pid" ] && sinfo --noheader --format=%T 2>/dev/null | grep -Eq "^(idle|mixed|allocated)"; }

mkdir -p "$SLURM_DIR"/{state,spool}
chmod 0755 "$SLURM_DIR"
install_missing
if ! is_ready; then
  "$(dirname "$0")/slurm-stop.sh" # what an earlier start may have left
  say "starting in $SLURM_DIR"
  start_munge
  write_settings
  slurmctld -f "$SLURM_CONF" </dev/null >&2
  slurmd -f "$SLURM_CONF" </dev/null >&2
  for _ in $(seq 300); do is_ready && break; sleep 0.1; done
  is_ready || { say "it does not answer:"; tail -20 "$SLURM_DIR"/*.log >&2; exit 1; }
fi
say "ready"
echo "export SLURM_CONF=$SLURM_CONF"
