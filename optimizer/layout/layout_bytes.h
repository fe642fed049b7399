// LayoutBytes: how much memory the layout costs a rank, by class.
//
// With P parameters, F of them frozen, and N ranks, a rank holds P parameters,
// P - F gradients and (P - F) / N elements of each fp32 array of state; tied
// parameters count once. For Adam with bfloat16 parameters and gradients that
// is 2 P + 2 P + 12 P / N bytes. Padding comes on top and is stated apart.
//
// Thread-safety: values. Ownership: none. Failure: none; see
// ModelLayout::Bytes().
//
// Example:
//   const LayoutBytes bytes = layout.Bytes(rank, DataType::kBfloat16);
//   fmt::print("{} of {}\n", bytes.moments.padding, bytes.total());
#pragma once

#include <cstddef>

namespace rondo {

struct ClassBytes {
  size_t used = 0;
  size_t padding = 0;

  size_t total() const { return used + padding; }
  friend bool operator==(const ClassBytes&, const ClassBytes&) = default;
};

struct LayoutBytes {
  ClassBytes parameters;  // the flat parameter buffer
  ClassBytes gradients;   // the flat gradient buffer
  ClassBytes master;      // fp32 copies of the parameters of the shard
  ClassBytes moments;     // the other fp32 arrays of state, of the shard

  size_t total() const {
    return parameters.total() + gradients.total() + master.total() +
           moments.total();
  }
};

// Which fp32 arrays of state there are. Adam has two moments, SGD with momentum
// and Lion one, plain SGD none. Without a master copy the fp32 parameters are
// updated in place.
struct LayoutState {
  bool master = true;
  int moments = 2;
};

}  // namespace rondo
