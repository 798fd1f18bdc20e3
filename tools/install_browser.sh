#!/bin/sh
# Makes sure that there is a Chromium for the browser tests: finds one, or installs Debian's.
# The tests look for it under the same names (tests/web/browser/chromium.py).
set -eu

for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done

if ! command -v apt-get >/dev/null 2>&1; then
  echo 'No Chromium found: the browser tests will be skipped. Install chromium to run them.' >&2
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo 'No Chromium found: the browser tests will be skipped.' \
      'To run them: sudo apt-get install chromium fonts-dejavu-core fonts-noto-cjk' >&2
    exit 0
  fi
  as_root=sudo
fi
$as_root apt-get -qq update
# Fonts for the scripts that the demo sessions are written in.
DEBIAN_FRONTEND=noninteractive $as_root apt-get -qq -y --no-install-recommends install \
  chromium fonts-dejavu-core fonts-noto-color-emoji fonts-noto-cjk >/dev/null
