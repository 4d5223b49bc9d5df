#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs by apt the packages that the build and the tests need and that are not there yet. usage: install-deps.sh [PACKAGE...]
set -eu
packages="gcc libc6-dev make meson ninja-build pkg-config check git
  llvm-22-dev libmlir-22-dev llvm-22-tools libstdc++-12-dev
  libzstd-dev zlib1g-dev libxml2-dev libz3-dev $*"
missing=""
for p in $packages; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "missing, and no apt-get here; please install:$missing" >&2
  exit 1
fi
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
echo "installing:$missing" >&2
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >&2
