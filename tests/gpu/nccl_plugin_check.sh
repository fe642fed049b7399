#!/usr/bin/env bash
# NCCL's collectives through the net plugin, on a machine with one GPU.
#
#   tests/gpu/nccl_plugin_check.sh [PLUGIN]
#       (default: bazel-bin/plugin/libnccl-net-rondo.so)
#
# Two processes share the GPU; each has its own NCCL_HOSTID, so that NCCL takes
# them for two hosts and sends everything over the network. Results are checked,
# and timed against NCCL's own sockets in a second run. CUDA_HOME and NCCL_HOME
# say where those are when the compiler does not find them. Exit status: 0 all
# right, 1 something wrong, 2 cannot be started.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
plugin=$(realpath "${1:-bazel-bin/plugin/libnccl-net-rondo.so}" 2>/dev/null) ||
  { echo "build //plugin:libnccl-net-rondo.so first" >&2; exit 2; }
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT

flags=()
cuda=${CUDA_HOME:-/usr/local/cuda}
for home in "$cuda" "${NCCL_HOME:-}"; do
  [[ -d $home ]] || continue
  flags+=("-I$home/include" "-L$home/lib64" "-L$home/lib"
    "-Wl,-rpath,$home/lib64:$home/lib")
done
g++ -std=c++20 -O2 tests/gpu/nccl_plugin_check.cc -o "$folder/check" \
  "${flags[@]}" -lnccl -lcudart ||
  { echo "CUDA or NCCL was not found: set CUDA_HOME, NCCL_HOME" >&2; exit 2; }

# one_run NAME VARIABLE...: both ranks, rank 0's lines into NAME.
one_run() {
  local name=$1 rank pids=()
  shift
  echo "== $name"
  for rank in 0 1; do
    env "$@" NCCL_HOSTID="host$rank" NCCL_MNNVL_ENABLE=0 \
      NCCL_SOCKET_IFNAME=lo NCCL_DEBUG=INFO NCCL_MAX_CTAS=2 \
      NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_PROTO=Simple \
      NCCL_DEBUG_FILE="$folder/$name.$rank.log" \
      timeout 120 "$folder/check" "$rank" "$folder/$name.id" \
      >"$folder/$name.$rank" 2>&1 &
    pids+=($!)
  done
  local failed=0 pid
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  cat "$folder/$name.0"
  if ((failed)); then
    cat "$folder/$name.1" && tail -n 20 "$folder/$name".*.log
    exit 1
  fi
}

one_run plugin NCCL_NET_PLUGIN="$plugin" NCCL_NET=Rondo RONDO_NET_DEVICES=lo
grep -q "via NET/Rondo/" "$folder/plugin.0.log" ||
  { echo "NCCL did not use the plugin" >&2; exit 1; }
one_run sockets NCCL_NET_PLUGIN=none NCCL_NET=Socket
