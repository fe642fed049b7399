#include "transports/base/conf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "transports/base/parameter_rule.h"

namespace rondo {
namespace {

constexpr std::string_view kPrefix = "RONDO_";

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool IsName(std::string_view text) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !text.empty() &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::string Place(const std::string& path, int line) {
  return path + ", line " + std::to_string(line);
}

// Reads what is there, up to one byte more than is allowed.
Result<std::string> ReadAll(int descriptor, const std::string& path) {
  std::string text(kMaxConfFileBytes + 1, '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got =
        read(descriptor, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("reading " + path, errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  if (filled > kMaxConfFileBytes) {
    return InvalidArgument(path + " is larger than the accepted " +
                           std::to_string(kMaxConfFileBytes) + " bytes");
  }
  text.resize(filled);
  return text;
}

}  // namespace

Result<std::vector<ConfSetting>> ReadConfFile(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return SystemError("opening " + path, errno);
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    return InvalidArgument(path + " is not a regular file");
  }
  const Result<std::string> text = ReadAll(descriptor, path);
  close(descriptor);
  if (!text.ok()) return text.status();
  return ParseConfText(*text, path);
}

Result<std::vector<ConfSetting>> ParseConfText(const std::string& text,
                                               const std::string& path) {
  std::vector<ConfSetting> settings;
  std::map<std::string, int> line_of;
  int line_number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line =
        Trim(std::string_view(text).substr(start, end - start));
    start = end + 1;
    ++line_number;
    if (line.empty() || line.front() == '#') continue;

    const size_t equals = line.find('=');
    std::string name(Trim(line.substr(0, equals)));
    if (equals == std::string_view::npos || !IsName(name)) {
      return InvalidArgument(Place(path, line_number) + ": " +
                             QuoteForMessage(line) +
                             " is refused; accepted is NAME=VALUE, or # and a "
                             "comment");
    }
    if (name.compare(0, kPrefix.size(), kPrefix) != 0) {
      name.insert(0, kPrefix);
    }
    const auto [first, inserted] = line_of.emplace(name, line_number);
    if (!inserted) {
      return InvalidArgument(Place(path, line_number) + ": " + name +
                             " was already set on line " +
                             std::to_string(first->second));
    }
    settings.push_back(
        {name, std::string(Trim(line.substr(equals + 1))), line_number});
  }
  return settings;
}

}  // namespace rondo
