#!/usr/bin/env bash
# Install Debian's bubblewrap for the process sandbox, if it is not there.
set -euo pipefail
command -v bwrap >/dev/null && exit 0
command -v apt-get >/dev/null || { echo "install bubblewrap so that bwrap is on the PATH" >&2; exit 1; }
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends bubblewrap >/dev/null
