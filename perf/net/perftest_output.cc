#include "perf/net/perftest_output.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"

namespace rondo::perf {
namespace {

// Iterations; median, average and overall time; average and overall bandwidth;
// average and overall message rate.
constexpr size_t kColumns = 8;
constexpr double kBytesPerUnit = 1048576;
constexpr size_t kQuoted = 600;

std::optional<double> Number(const std::string& word) {
  double value = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

// The numbers that end the line; none when there are not exactly enough.
std::vector<double> TrailingNumbers(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::optional<double> number = Number(word);
    if (number) {
      numbers.push_back(*number);
    } else {
      numbers.clear();
    }
  }
  if (numbers.size() != kColumns) numbers.clear();
  return numbers;
}

}  // namespace

Result<PerftestFigures> ParsePerftest(std::string_view text) {
  std::vector<double> found;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::vector<double> numbers = TrailingNumbers(line);
    if (!numbers.empty()) found = std::move(numbers);
  }
  if (found.empty()) {
    const size_t from = text.size() > kQuoted ? text.size() - kQuoted : 0;
    return Status(Code::kTransport,
                  fmt::format("ucx_perftest printed no line of {} figures but "
                              "\"{}\"",
                              kColumns, text.substr(from)));
  }
  PerftestFigures figures;
  figures.iterations = static_cast<int64_t>(found[0]);
  figures.median_us = found[1];
  figures.overall_us = found[3];
  figures.overall_gbs = found[5] * kBytesPerUnit / 1e9;
  return figures;
}

}  // namespace rondo::perf
