// The address of a rank: the UCX worker addresses of all its lanes in one
// string.
//
// UCX trusts worker addresses blindly; a damaged one crashes it. So ours carry
// a format version, lengths and a checksum, all checked before UCX sees a byte.
// The checksum finds damage, not forgery: addresses travel over the
// authenticated bootstrap. Ranks must run the same UCX release (major.minor),
// because releases do not promise to understand each other's messages.
//
// Layout, little-endian: "RUCX", u16 format, u16 UCX major, u16 UCX minor, u16
// lanes, then for each lane u32 length and the bytes; u64 FNV-1a of all before.
//
// Thread-safety: pure functions. Failure: kInvalidArgument with what is wrong;
// kMismatch for another UCX release or number of lanes, with both values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

inline constexpr size_t kMaxUcxAddressBytes = 65536;

// kResourceExhausted if the result would exceed kMaxUcxAddressBytes.
Result<std::string> PackUcxAddress(const std::vector<std::string>& lanes);

// The worker address of each of `lane_count` lanes.
Result<std::vector<std::string>> UnpackUcxAddress(std::string_view address,
                                                  int lane_count);

}  // namespace rondo
