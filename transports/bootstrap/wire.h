// Bytes on the wire: little-endian integers and length-prefixed text, written
// and read with every length checked.
//
// Thread-safety: one thread per object. Ownership: a ByteReader looks into
// bytes that its caller keeps. Failure: a ByteReader remembers the first
// overrun and then returns zeros; complete() is true only when nothing failed
// and every byte was used, so that a short and a long message are both refused.
//
// Example:
//   ByteReader reader(payload);
//   const uint32_t rank = reader.U32();
//   const std::string_view text = reader.Text(kMaxTextBytes);
//   if (!reader.complete()) return InvalidArgument("malformed");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rondo {

class ByteWriter {
 public:
  void U8(uint8_t value) { Little(value, 1); }
  void U16(uint16_t value) { Little(value, 2); }
  void U32(uint32_t value) { Little(value, 4); }
  void U64(uint64_t value) { Little(value, 8); }
  // The bytes alone.
  void Raw(std::string_view bytes) { out_.append(bytes); }
  // Their 32-bit length, then the bytes.
  void Text(std::string_view bytes) {
    U32(static_cast<uint32_t>(bytes.size()));
    Raw(bytes);
  }

  std::string Take() { return std::move(out_); }
  size_t size() const { return out_.size(); }

 private:
  void Little(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      out_.push_back(static_cast<char>(value >> (8 * i)));
    }
  }
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  uint8_t U8() { return static_cast<uint8_t>(Little(1)); }
  uint16_t U16() { return static_cast<uint16_t>(Little(2)); }
  uint32_t U32() { return static_cast<uint32_t>(Little(4)); }
  uint64_t U64() { return Little(8); }
  std::string_view Raw(size_t bytes) {
    if (failed_ || bytes > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view out = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return out;
  }
  // A 32-bit length of at most `max_bytes`, then that many bytes.
  std::string_view Text(size_t max_bytes) {
    const uint32_t bytes = U32();
    if (bytes > max_bytes) failed_ = true;
    return Raw(bytes);
  }
  std::string_view Rest() { return Raw(rest_.size()); }

  bool ok() const { return !failed_; }
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  uint64_t Little(size_t bytes) {
    const std::string_view raw = Raw(bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < raw.size(); ++i) {
      value |= uint64_t{static_cast<uint8_t>(raw[i])} << (8 * i);
    }
    return value;
  }
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace rondo
