#include "perf/compare_mpi/machine.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace rondo::perf {
namespace {

// What stands after "KEY<blanks>: " in the first line that begins so.
std::string_view ValueOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t colon = line.find(": ");
    if (line.rfind(key, 0) == 0 && colon != std::string_view::npos) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

}  // namespace

std::string ReadCpuInfo() {
  std::ifstream file("/proc/cpuinfo");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string CpuModel(std::string_view cpu_info) {
  // x86, then POWER, then some ARM boards.
  for (const char* key : {"model name", "cpu\t", "Model"}) {
    const std::string_view value = ValueOf(cpu_info, key);
    if (!value.empty()) return std::string(value);
  }
  return "unknown CPU";
}

int OnlineCores() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace rondo::perf
