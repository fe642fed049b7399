#!/usr/bin/env bash
# Fetches the newest UCX, which comes in a Python package, into FOLDER, and
# prints the tree for `--ucx` on standard output.
#
#   tests/run --ucx "$(third_party/fetch_ucx.sh)"
#   third_party/fetch_ucx.sh FOLDER       (default: ~/.cache/rondo/ucx)
#
# What is there already is kept: remove FOLDER to fetch again. Exit status: 0
# when the tree is complete, 2 when not.
set -euo pipefail

package=libucx-cu13
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/rondo/ucx}
tree=$folder/libucx

if [[ ! -f $tree/include/ucp/api/ucp.h ]]; then
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "third_party/fetch_ucx.sh: python3 has no pip, which fetches" \
      "$package; Debian's package is python3-pip" >&2
    exit 2
  fi
  if ! PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet \
    --no-deps --target "$folder" "$package" >&2; then
    echo "third_party/fetch_ucx.sh: pip could not install $package into" \
      "'$folder'" >&2
    exit 2
  fi
fi
# Some versions of the package have libraries under their versioned names only.
for library in "$tree"/lib/lib*.so.0; do
  if [[ -f $library && ! -e ${library%.0} ]]; then
    ln -s "${library##*/}" "${library%.0}"
  fi
done
exec "$here/check_ucx.sh" "$tree"
