#!/usr/bin/env bash
# Sweep shipped examples in eight jobs, kill the sweep in its middle, go on with it, and end in one report of all of it.
#   VENV        the environment with skilleval (default: .venv)
#   SWEEP_DIR   where it works (default: a new folder for temporary files; it stays)
# Nothing that was finished may run again: the runs of jobs that were done before the kill stay byte for byte.
set -euo pipefail
skilleval=$(realpath "${VENV:-.venv}/bin/skilleval")
place=${SWEEP_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/skilleval-sweep.XXXXXX")}
mkdir -p "$place/conf/skill_set"
cd "$place"
say() { printf '\n== %s\n' "$*"; }

# Two skill sets of our own; a project's options stand in its conf/.
printf 'defaults: [examples, _self_]\nname: right\npaths: ["${paths.shipped_examples}/skills/calculator"]\n' \
  >conf/skill_set/right.yaml
printf 'defaults: [examples, _self_]\nname: unsteady\npaths: ["${paths.shipped_examples}/skills/%s", "${paths.shipped_examples}/skills/%s"]\n' \
  flaky-calculator wrong-calculator >conf/skill_set/unsteady.yaml

done_jobs() { grep -ls '"state": "done"' outputs/*/*/jobs/*.json 2>/dev/null || true; }
run_of() { sed -n 's/^ *"run_dir": "\(.*\)",*$/\1/p' "$1"; }
fingerprints() { # of the runs of the jobs in a list of their files
  while read -r job; do
    (cd "$(dirname "$(dirname "$job")")/$(run_of "$job")" && find . -type f ! -name .lock -exec sha256sum {} + | sort)
  done
}

say "eight jobs: two skill sets × two sandboxes × two scorers"
"$skilleval" eval -m skill_set=right,unsteady sandbox=none,process scorer=exact,contains &
sweep=$!
trap 'kill -9 "$sweep" 2>/dev/null || true' EXIT
while kill -0 "$sweep" 2>/dev/null && [ "$(done_jobs | wc -l)" -lt 3 ]; do sleep 0.1; done
kill -9 "$sweep" || { echo "it ended before it could be killed" >&2; exit 1; }
wait "$sweep" 2>/dev/null || true
trap - EXIT

say "killed in the middle (kill -9 $sweep)"
"$skilleval" sweep status latest
done_jobs >done.txt
fingerprints <done.txt >before.txt

say "going on"
"$skilleval" sweep resume latest

say "what came of it"
fingerprints <done.txt | cmp - before.txt || { echo "a job that was done ran again" >&2; exit 1; }
[ "$(done_jobs | wc -l)" = 8 ] || { echo "not all of the eight jobs are done" >&2; exit 1; }
[ "$(find outputs -name manifest.json | wc -l)" = 8 ] || { echo "a job has more than one run" >&2; exit 1; }
echo "8 jobs, 8 runs; the $(wc -l <done.txt) that were done before the kill are untouched"
"$skilleval" sweep report latest --format html
echo "open: $(realpath outputs/*/*/sweep.json | xargs dirname)/report.html"
