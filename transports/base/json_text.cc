#include "transports/base/json_text.h"

#include <cstdint>
#include <cstdio>

namespace rondo {
namespace {

void AppendAscii(std::string* out, char c) {
  switch (c) {
    case '"':
      *out += "\\\"";
      return;
    case '\\':
      *out += "\\\\";
      return;
    case '\n':
      *out += "\\n";
      return;
    case '\t':
      *out += "\\t";
      return;
    case '\r':
      *out += "\\r";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7f) {
    *out += c;
    return;
  }
  char escape[8];
  std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
  *out += escape;
}

// What the first byte promises; 0 when no sequence may begin with it.
int PromisedBytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

}  // namespace

int Utf8SequenceBytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  const int bytes = PromisedBytes(first);
  if (bytes <= 1) return bytes;
  if (text.size() < static_cast<size_t>(bytes)) return 0;
  uint32_t point = first & (0x7f >> bytes);
  for (int i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    point = point << 6 | (next & 0x3f);
  }
  if (bytes == 3 && point < 0x800) return 0;
  if (bytes == 4 && (point < 0x10000 || point > 0x10ffff)) return 0;
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return surrogate ? 0 : bytes;
}

void AppendJsonString(std::string* out, std::string_view text) {
  *out += '"';
  while (!text.empty()) {
    const int bytes = Utf8SequenceBytes(text);
    if (bytes == 0) {
      *out += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    if (bytes == 1) {
      AppendAscii(out, text[0]);
    } else {
      out->append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
  }
  *out += '"';
}

}  // namespace rondo
