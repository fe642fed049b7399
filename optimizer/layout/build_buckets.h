// BuildBuckets: packs parameters into buckets; the rules are model_layout.h's.
//
// Thread-safety: pure functions. Ownership: only reads its arguments. Failure:
// kInvalidArgument, naming the parameter, when there would be too many elements
// or buckets.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(std::vector<LayoutBucket> buckets,
//                          BuildBuckets(parameters, options));
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "optimizer/layout/layout_bucket.h"
#include "optimizer/layout/layout_parameter.h"
#include "transports/base/status.h"

namespace rondo {

// The most elements that a bucket of parameters of this type holds: the target
// rounded up to whole tiles for every rank, and to 4096 bytes.
size_t BucketCapacity(const LayoutOptions& options, DataType type);

// The arguments have passed CheckLayoutParameters().
Result<std::vector<LayoutBucket>> BuildBuckets(
    const std::vector<LayoutParameter>& parameters,
    const LayoutOptions& options);

// `bytes` rounded up to where a bucket may begin in the parameter buffer.
size_t RoundUpToPage(size_t bytes);

}  // namespace rondo
