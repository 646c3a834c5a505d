#!/usr/bin/env bash
# Install Debian's Chromium for the browser tests, if it is not there.
set -euo pipefail
command -v chromium >/dev/null && exit 0
command -v apt-get >/dev/null || { echo "install Chromium so that /usr/bin/chromium exists" >&2; exit 1; }
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
