#!/usr/bin/env bash
# Install the accessibility checker axe-core, which the browser tests run, into a folder git ignores. Needs npm.
#   AXE_DIR   the folder (default: .cache/axe beside the sources)
set -euo pipefail
cd "$(dirname "$0")/.."
version=4.14.1
folder=${AXE_DIR:-.cache/axe}
found=$folder/node_modules/axe-core
[ -f "$found/axe.min.js" ] && grep -q "\"version\": \"$version\"" "$found/package.json" && exit 0
command -v npm >/dev/null || { echo "install npm so that axe-core $version can be installed" >&2; exit 1; }
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$folder" "axe-core@$version"
