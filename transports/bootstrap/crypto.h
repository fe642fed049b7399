// The few pieces of cryptography that the bootstrap needs, from libcrypto:
// HMAC-SHA256, random bytes of the system, comparison in constant time.
//
// Thread-safety: the functions are stateless; an HmacKey may be used by one
// thread at a time. Ownership: an HmacKey owns its key material and wipes it.
// Failure: libcrypto can fail (memory); then a Status says so, and no tag that
// was not computed is ever accepted.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(HmacKey key, HmacKey::Create(secret));
//   RONDO_ASSIGN_OR_RETURN(Digest tag, key.Sign({header, payload}));
//   if (!EqualInConstantTime(AsBytes(tag), received)) return ...;
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "transports/base/status.h"

// libcrypto's own name for its context, so that its headers stay out of here.
struct evp_mac_ctx_st;

namespace rondo {

using Digest = std::array<uint8_t, 32>;

template <size_t kSize>
std::string_view AsBytes(const std::array<uint8_t, kSize>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), kSize};
}

class HmacKey {
 public:
  static Result<HmacKey> Create(std::string_view key);
  HmacKey(HmacKey&&) noexcept = default;
  HmacKey& operator=(HmacKey&&) noexcept = default;

  // HMAC-SHA256 of the parts one after the other.
  Result<Digest> Sign(std::initializer_list<std::string_view> parts) const;

 private:
  struct Free {
    void operator()(evp_mac_ctx_st* context) const;
  };
  using Context = std::unique_ptr<evp_mac_ctx_st, Free>;
  explicit HmacKey(Context keyed) : keyed_(std::move(keyed)) {}
  Context keyed_;
};

// One signature with a key that is not kept.
Result<Digest> HmacSha256(std::string_view key,
                          std::initializer_list<std::string_view> parts);

// Fills `bytes` from getrandom().
Status FillRandom(void* bytes, size_t count);

// Whether both are equal; the time depends on their lengths only.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace rondo
