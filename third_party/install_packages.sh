#!/usr/bin/env bash
# Installs the Debian packages of debian_packages.txt that are missing here.
#
#   third_party/install_packages.sh [GROUP...]
#
# Lines of the list without a group are always wanted; a line `name @GROUP` only
# when that group is asked for. Nothing is installed, and no package index is
# fetched, when everything is there already. Exit status: 0 all present, 2 some
# are missing and cannot be installed (the message names them).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$here/debian_packages.txt

wanted_packages() {
  local name group asked
  while read -r name group _; do
    case $name in '' | '#'*) continue ;; esac
    if [[ -z $group ]]; then
      echo "$name"
      continue
    fi
    for asked in "$@"; do
      if [[ $group == "@$asked" ]]; then echo "$name"; fi
    done
  done <"$list"
}

missing_packages() {
  local name state
  for name in "$@"; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) || true
    if [[ $state != installed ]]; then echo "$name"; fi
  done
}

give_up() {
  {
    echo "rondo: $1"
    echo "These Debian packages are needed and missing:"
    printf '  %s\n' "${missing[@]}"
    echo "Install them (apt-get install ${missing[*]}) and run this again."
  } >&2
  exit 2
}

mapfile -t wanted < <(wanted_packages "$@")
missing=("${wanted[@]}")
if command -v dpkg-query >/dev/null; then
  mapfile -t missing < <(missing_packages "${wanted[@]}")
fi
if ((${#missing[@]} == 0)); then exit 0; fi

command -v apt-get >/dev/null ||
  give_up "this system has no apt-get; Debian 12's packages are what is tested"
as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || give_up "not root, and there is no sudo here"
  sudo -n true 2>/dev/null || give_up "not root, and sudo asks for a password"
  as_root=(sudo -n)
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -qq "$@" </dev/null
}

echo "Installing ${#missing[@]} Debian packages: ${missing[*]}"
# A source that cannot be refreshed is not fatal: the packages may still be had.
apt update || echo "rondo: apt-get update failed; trying to install anyway" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! apt install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  give_up "apt-get install failed"
fi
