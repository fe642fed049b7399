#!/usr/bin/env bash
# Builds the C programs here against librondo.so as a user would, with nothing
# but the public headers and the shared object, as C99 and as C++; then runs
# them as jobs of one, three and two ranks.
set -euo pipefail

library=$PWD/librondo.so
source=$(readlink -f tests/api/c_api_smoke_test.c)
root=${source%/tests/api/*}
work=$TEST_TMPDIR
ln -s "$library" "$work/librondo.so.0"
export LD_LIBRARY_PATH=$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

flags=(-Wall -Wextra -Werror -pedantic -I "$root")
# A sanitizer's run time must come first in the program that loads the library.
needed=$(nm -D "$library")
if grep -q __asan_init <<<"$needed"; then
  flags+=("-fsanitize=address,undefined")
fi
if grep -q __tsan_init <<<"$needed"; then flags+=(-fsanitize=thread); fi


run_job() {
  local program=$1 ranks=$2 rank pids=() failed=0
  for ((rank = 0; rank < ranks; ++rank)); do
    RONDO_RANK=$rank RONDO_WORLD_SIZE=$ranks RONDO_SOCKET_IFNAME=lo \
      RONDO_RENDEZVOUS_FILE="$program.rendezvous" timeout 60 "$program" &
    pids+=($!)
  done
  for rank in "${!pids[@]}"; do
    wait "${pids[$rank]}" || failed=1
  done
  return "$failed"
}

for name in c_api_smoke_test c_optimizer_smoke_test; do
  source=$root/tests/api/$name.c
  gcc -x c -std=c99 "${flags[@]}" "$source" -x none "$library" -lm \
    -o "$work/$name.as_c"
  g++ -x c++ -std=c++20 "${flags[@]}" "$source" -x none "$library" \
    -o "$work/$name.as_cxx"
  env -u RANK -u WORLD_SIZE timeout 60 "$work/$name.as_c"
  run_job "$work/$name.as_c" 3
  run_job "$work/$name.as_cxx" 2
done
