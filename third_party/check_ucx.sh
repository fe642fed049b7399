#!/usr/bin/env bash
# Prints the absolute path of the UCX tree DIR, or says what DIR lacks.
#
#   third_party/check_ucx.sh DIR
#
# `--ucx DIR` of tests/run and perf/quickstart asks here. Exit status: 0 when
# Rondo can be built against DIR, 2 when not.
set -euo pipefail

for needed in include/ucp/api/ucp.h lib/lib{ucp,ucs,uct}.so; do
  if [[ ! -f ${1:-}/$needed ]]; then
    echo "--ucx '${1:-}': no $needed in there; accepted is a folder that UCX" \
      "is installed in, or what third_party/fetch_ucx.sh prints" >&2
    exit 2
  fi
done
tree=$(cd "$1" && pwd)
if [[ $tree == *[[:space:]]* ]]; then
  echo "--ucx '$tree': Bazel cannot link with a path that has spaces" >&2
  exit 2
fi
echo "$tree"
