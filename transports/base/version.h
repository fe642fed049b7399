// The version of Rondo, for the layers that cannot see the C API's header; that
// header's numbers are compared with these at compile time.
//
// Thread-safety: a constant.
#pragma once

#include <cstdint>

namespace rondo {

// MAJOR * 10000 + MINOR * 100 + PATCH
inline constexpr uint32_t kVersionCode = 100;

}  // namespace rondo
