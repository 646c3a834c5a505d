#!/usr/bin/env bash
# Evaluate, compare with a baseline, hold the run against its gate; the exit code is the verdict.
#   make report [BASELINE=RUN] [ARGS="runner.repeats=3 gate=strict"]
# What is evaluated is what skilleval.yaml of the working directory says, else the demo. Without BASELINE the newest
# earlier run of the same benchmark is the baseline. report.html, junit.xml and summary.md go to REPORT_DIR, else to
# the folder `ci` of the run.
set -euo pipefail

skilleval="${VENV:-.venv}/bin/skilleval"
command=(eval)
[ -f skilleval.yaml ] || command=(demo)
said="$(mktemp)"
trap 'rm -f "$said"' EXIT

evaluated=0
"$skilleval" "${command[@]}" --json "$@" >"$said" || evaluated=$?
place() { "${VENV:-.venv}/bin/python" -c 'import json, sys; print(json.load(sys.stdin).get("run_dir", ""))' <"$said"; }
folder="$(place)"
if [ -z "$folder" ]; then
  cat "$said" >&2
  exit "$evaluated"
fi

judged=0
"$skilleval" gate "$folder" --store "$(dirname "$(dirname "$folder")")" --baseline "${BASELINE:-previous}" \
  --output-dir "${REPORT_DIR:-$folder/ci}" || judged=$?
# A run that broke has no verdict: 3, 4, 5 and 130 say so before a gate does.
[ "$evaluated" -gt 1 ] && exit "$evaluated"
exit "$judged"
