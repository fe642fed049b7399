// What UCX does to the process around it, and what the process does to UCX:
// signal handlers, fork, the room in /dev/shm.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace rondo {

// Takes UCX's signal handlers out and puts back what was there before, except
// those that the user's environment asks for. Handlers of others are left
// alone.
void RemoveUcxSignalHandlers();

// A number that differs between a process and the children that it forks: one
// atomic load, where getpid() would be a system call for every message.
int ForkGeneration();

// The directory in which UCX makes POSIX segments, and the bytes available
// there; all bits set when that cannot be found out.
std::string SharedMemoryDirectory();
uint64_t AvailableBytes(const std::string& directory);

}  // namespace rondo
