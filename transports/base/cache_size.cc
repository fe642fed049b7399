#include "transports/base/cache_size.h"

#include <algorithm>
#include <fstream>

namespace rondo {
namespace {

constexpr size_t kCommonBytes = size_t{8} << 20;

// "32768K" or "32M"; 0 for anything else.
size_t ParseSize(const std::string& text) {
  size_t value = 0;
  size_t used = 0;
  while (used < text.size() && text[used] >= '0' && text[used] <= '9' &&
         value < (size_t{1} << 40)) {
    value = value * 10 + static_cast<size_t>(text[used++] - '0');
  }
  if (used == 0) return 0;
  const std::string unit = text.substr(used);
  if (unit == "K") return value << 10;
  if (unit == "M") return value << 20;
  return unit.empty() ? value : 0;
}

std::string ReadWord(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

size_t LastCacheBytes(const std::string& directory) {
  size_t largest = 0;
  for (int index = 0;; ++index) {
    const std::string cache = directory + "/index" + std::to_string(index);
    const std::string type = ReadWord(cache + "/type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    largest = std::max(largest, ParseSize(ReadWord(cache + "/size")));
  }
  return largest > 0 ? largest : kCommonBytes;
}

}  // namespace rondo
