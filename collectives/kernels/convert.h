// ConvertElements: between the floating-point types, rounding once.
//
// Narrowing rounds to nearest, ties to even, straight from the source's value:
// double to half or bfloat16 does not round twice by way of float. Too large
// becomes an infinity, subnormals and signed zeros are kept, a NaN stays a NaN
// (half.h says which). The bits are the same on every vector unit.
//
// Thread-safety: safe on disjoint destinations. Ownership: none taken.
// Failure: kInvalidArgument when one of the types is not floating-point.
//
// Example:
//   RONDO_RETURN_IF_ERROR(ConvertElements(DataType::kFloat32, master,
//                                         DataType::kBfloat16, weights, n));
#pragma once

#include <cstddef>

#include "collectives/kernels/data_type.h"
#include "transports/base/status.h"

namespace rondo {

// Converts `count` elements. The arrays may have any alignment. They must be
// disjoint, or start at the same address if the types have the same size.
Status ConvertElements(DataType from, const void* source, DataType to,
                       void* destination, size_t count);

}  // namespace rondo
