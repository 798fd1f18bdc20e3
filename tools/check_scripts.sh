#!/bin/sh
# Checks the types of the scripts in the web pages, which are in their comments: `tsc --checkJs`.
# The compiler is installed into the folder that is given, once; pages and package never need it.
set -eu

version=5.9.3
folder=$1
compiler=$folder/node_modules/typescript

skip() {
  echo "The scripts of the pages were not checked: $1." >&2
  exit 0
}

command -v node >/dev/null 2>&1 || skip 'node is not installed'
if ! grep -qs "\"version\": \"$version\"" "$compiler/package.json"; then
  command -v npm >/dev/null 2>&1 || skip 'npm is not installed'
  mkdir -p "$folder"
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-save \
    --package-lock=false --loglevel=error "typescript@$version" >/dev/null ||
    skip "npm could not install typescript $version"
fi
node "$compiler/bin/tsc" --project tools/jsconfig.json
