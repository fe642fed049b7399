// What the machine is, for a report that somebody reads elsewhere.
//
// Thread-safety: reads /proc. Failure: "unknown CPU" where the text says
// nothing.
//
// Example:
//   fmt::print("{}, {} cores\n", CpuModel(ReadCpuInfo()), OnlineCores());
#pragma once

#include <string>
#include <string_view>

namespace rondo::perf {

std::string ReadCpuInfo();  // the text of /proc/cpuinfo
std::string CpuModel(std::string_view cpu_info);
int OnlineCores();

}  // namespace rondo::perf
