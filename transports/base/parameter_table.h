// The one list of Rondo's parameters. A row here is everything: the field of
// Parameters, the environment variable, the default, what is accepted, whether
// it is for production or for debugging, and the documentation that `rondo
// info` and the README print. To add a parameter, add a row.
//
// PARAMETER(type, field, name, default, rule, class, documentation)
//
// Only parameters.h and parameters.cc include this file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transports/base/log_subsystems.h"
#include "transports/base/parameter_rule.h"

// "INIT", "BOOTSTRAP", ...
#define RONDO_SUBSYSTEM_NAME_(name) #name,

#define RONDO_PARAMETER_TABLE(PARAMETER)                                       \
  /* What is said, and where. */                                               \
  PARAMETER(std::string, debug, "RONDO_DEBUG", "warn",                         \
            Choice({"none", "version", "warn", "info", "trace"}), kSystem,     \
            "How much to log; each level includes those before it.")           \
  PARAMETER(std::vector<std::string>, debug_subsys, "RONDO_DEBUG_SUBSYS", {},  \
            List({RONDO_LOG_SUBSYSTEMS(RONDO_SUBSYSTEM_NAME_)}), kSystem,      \
            "Which subsystems log at info and trace. Empty means all; a "      \
            "leading ^ means all but these.")                                  \
  PARAMETER(std::string, debug_file, "RONDO_DEBUG_FILE", "", Text(), kSystem,  \
            "File to append the log to; %h becomes the host name, %p the "     \
            "process id. Empty means standard error.")                         \
  PARAMETER(std::string, conf_file, "RONDO_CONF_FILE", "", Text(), kSystem,    \
            "File of lines NAME=VALUE that sets what the environment does "    \
            "not. Given in the environment only.")                             \
  PARAMETER(std::string, trace_file, "RONDO_TRACE_FILE", "", Text(), kDebug,   \
            "File to write a Chrome trace to when the communicator is "        \
            "destroyed; %r becomes the rank, %h the host name, %p the "        \
            "process id. Empty means no trace.")                               \
  /* Who takes part, and how the ranks find each other. */                     \
  PARAMETER(int64_t, rank, "RONDO_RANK", -1,                                   \
            OptionalNumber(0, (1 << 20) - 1, -1), kSystem,                     \
            "Rank of this process; -1 means: ask the launcher's variables.")   \
  PARAMETER(int64_t, world_size, "RONDO_WORLD_SIZE", -1,                       \
            OptionalNumber(1, 1 << 20, -1), kSystem,                           \
            "Number of ranks; -1 means: ask the launcher's variables.")        \
  PARAMETER(int64_t, local_rank, "RONDO_LOCAL_RANK", -1,                       \
            OptionalNumber(0, (1 << 20) - 1, -1), kSystem,                     \
            "Rank among the ranks of this host; -1 means: ask the "            \
            "launcher's variables.")                                           \
  PARAMETER(int64_t, local_world_size, "RONDO_LOCAL_WORLD_SIZE", -1,           \
            OptionalNumber(1, 1 << 20, -1), kSystem,                           \
            "Number of ranks on this host; -1 means: ask the launcher's "      \
            "variables.")                                                      \
  PARAMETER(std::string, root, "RONDO_ROOT", "", Text(), kSystem,              \
            "Address HOST:PORT at which rank 0 listens and all others join.")  \
  PARAMETER(std::string, rendezvous_file, "RONDO_RENDEZVOUS_FILE", "", Text(), \
            kSystem,                                                           \
            "Path through which rank 0 publishes the unique id to the other "  \
            "ranks of one host or shared file system.")                        \
  PARAMETER(std::string, secret_file, "RONDO_SECRET_FILE", "", Text(),         \
            kSystem,                                                           \
            "File whose content authenticates the ranks to each other when "   \
            "the unique id itself travels openly.")                            \
  PARAMETER(std::string, socket_ifname, "RONDO_SOCKET_IFNAME", "", Text(),     \
            kSystem,                                                           \
            "Network interface of the bootstrap. Empty means: chosen by "      \
            "Rondo.")                                                          \
  PARAMETER(std::string, hostid, "RONDO_HOSTID", "", Text(), kSystem,          \
            "Identity of this host; ranks with equal identities share "        \
            "memory. Empty means: found from the machine.")                    \
  /* How long to wait. */                                                      \
  PARAMETER(int64_t, bootstrap_timeout_ms, "RONDO_BOOTSTRAP_TIMEOUT_MS",       \
            60'000, WholeNumber(1, 86'400'000), kSystem,                       \
            "Milliseconds within which all ranks must have joined.")           \
  PARAMETER(int64_t, timeout_ms, "RONDO_TIMEOUT_MS", 300'000,                  \
            WholeNumber(1, 86'400'000), kSystem,                               \
            "Milliseconds that one collective may take before it fails.")      \
  PARAMETER(int64_t, peer_timeout_ms, "RONDO_PEER_TIMEOUT_MS", 3'000,          \
            WholeNumber(1, 86'400'000), kSystem,                               \
            "Milliseconds of silence after which a rank is called dead.")      \
  PARAMETER(int64_t, heartbeat_ms, "RONDO_HEARTBEAT_MS", 200,                  \
            WholeNumber(1, 86'400'000), kSystem,                               \
            "Milliseconds between two signs of life to the other ranks.")      \
  /* How bytes move. */                                                        \
  PARAMETER(std::vector<std::string>, net_devices, "RONDO_NET_DEVICES", {},    \
            List(), kSystem,                                                   \
            "Network devices as UCX names them (mlx5_0:1, eth0), one lane "    \
            "for each. Empty means one lane over all devices.")                \
  PARAMETER(std::string, ucx_tls, "RONDO_UCX_TLS", "", Text(), kSystem,        \
            "UCX transports of Rondo's own contexts, as UCX_TLS names them. "  \
            "Empty means: UCX decides.")                                       \
  PARAMETER(int64_t, net_peer_timeout_s, "RONDO_NET_PEER_TIMEOUT_S", 0,        \
            WholeNumber(0, 86'400), kSystem,                                   \
            "NCCL net plugin: seconds of silence, with requests in flight, "   \
            "after which a peer is given up. 0 means never: a process that "   \
            "ended is noticed anyway, and one that computes is not dead.")     \
  PARAMETER(                                                                   \
      bool, net_force_flush, "RONDO_NET_FORCE_FLUSH", false, Boolean(),        \
      kSystem,                                                                 \
      "NCCL net plugin: asks NCCL to flush after every receive into GPU "      \
      "memory.")                                                               \
  PARAMETER(bool, progress_thread, "RONDO_PROGRESS_THREAD", false, Boolean(),  \
            kSystem,                                                           \
            "Whether a thread of Rondo drives collectives while the "          \
            "application computes.")                                           \
  /* How collectives are cut and chosen. */                                    \
  PARAMETER(int64_t, chunk_bytes, "RONDO_CHUNK_BYTES", 256 << 10,              \
            ByteSize(64, int64_t{1} << 30), kSystem,                           \
            "Size of the pieces in which blocks are pipelined.")               \
  PARAMETER(int64_t, window_chunks, "RONDO_WINDOW_CHUNKS", 8,                  \
            WholeNumber(1, 4096), kSystem,                                     \
            "Chunks of one call that are in flight at a time.")                \
  PARAMETER(std::string, algorithm, "RONDO_ALGO", "auto",                      \
            Choice({"auto", "direct", "staged", "ring"}), kSystem,             \
            "Algorithm of all-gather, reduce-scatter and sharded step. "       \
            "Inside a host, direct moves data from memory to memory and "      \
            "staged through small shared pieces; ring sends messages to a "    \
            "neighbour. auto chooses by size and by where buffers lie.")       \
  /* For tests and for finding faults. */                                      \
  PARAMETER(std::string, fault, "RONDO_FAULT", "", Text(), kDebug,             \
            "Faults to inject into the transport, such as corrupt:SEED. "      \
            "Results become wrong on purpose.")
