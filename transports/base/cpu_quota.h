// How many CPUs the control group of a process lets it use.
//
// A container usually sees every CPU of its host in the affinity mask and is
// held back by a time quota instead: 200 ms of CPU time in every 100 ms, for
// example, are two CPUs. Both versions of control groups are read, and every
// ancestor counts.
//
// Thread-safety: reentrant. Failure: files that are absent or that do not read
// as expected mean "no limit known"; nothing here can stop a program.
#pragma once

#include <string>

namespace rondo {

// The quota in CPUs, rounded up and at least 1; 0 when there is none.
// `process_directory` holds the files `cgroup` and `mountinfo` of the process:
// "/proc/self".
int CgroupCpuLimit(const std::string& process_directory);

}  // namespace rondo
