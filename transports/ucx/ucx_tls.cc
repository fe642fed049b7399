#include "transports/ucx/ucx_tls.h"

#include <algorithm>
#include <vector>

namespace rondo {

namespace {

using Names = std::vector<std::string>;

const Names& MappedFamily() {
  static const Names* const family = new Names{"posix", "sysv", "xpmem"};
  return *family;
}

const Names& SharedFamily() {
  static const Names* const family =
      new Names{"posix", "sysv", "xpmem", "cma", "knem"};
  return *family;
}

struct Expression {
  bool negated = false;
  Names names;  // families expanded
};

bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void AddExpanded(std::string name, Names* names) {
  if (name == "sm" || name == "shm") {
    names->insert(names->end(), SharedFamily().begin(), SharedFamily().end());
  } else if (name == "mm") {
    names->insert(names->end(), MappedFamily().begin(), MappedFamily().end());
  } else if (!name.empty()) {
    names->push_back(std::move(name));
  }
}

Expression Parse(std::string_view text) {
  Expression expression;
  if (!text.empty() && text[0] == '^') {
    expression.negated = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    AddExpanded(std::string(text.substr(0, comma)), &expression.names);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  // Nothing named, or everything: the same as leaving nothing out.
  if (!expression.negated &&
      (expression.names.empty() || Contains(expression.names, "all"))) {
    expression.negated = true;
    expression.names.clear();
  }
  return expression;
}

bool Allows(const Expression& expression, std::string_view name) {
  return Contains(expression.names, name) != expression.negated;
}

std::string Join(const Names& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + name;
  }
  return text;
}

Result<std::string> Exclude(std::string_view transports, const Names& out) {
  Expression expression = Parse(transports);
  if (expression.negated) {
    for (const std::string& name : out) {
      if (!Contains(expression.names, name)) expression.names.push_back(name);
    }
    return "^" + Join(expression.names);
  }
  std::erase_if(expression.names,
                [&](const std::string& name) { return Contains(out, name); });
  if (expression.names.empty()) {
    return Status(Code::kResourceExhausted,
                  "UCX transports \"" + std::string(transports) +
                      "\": nothing is left without " + Join(out));
  }
  return Join(expression.names);
}

}  // namespace

Result<std::string> ExcludePosix(std::string_view transports) {
  return Exclude(transports, {"posix"});
}

Result<std::string> ExcludeSharedMemory(std::string_view transports) {
  return Exclude(transports, SharedFamily());
}

bool AllowsPosix(std::string_view transports) {
  return Allows(Parse(transports), "posix");
}

bool AllowsMappedSegments(std::string_view transports) {
  const Expression expression = Parse(transports);
  return std::any_of(
      MappedFamily().begin(), MappedFamily().end(),
      [&](const std::string& name) { return Allows(expression, name); });
}

}  // namespace rondo
