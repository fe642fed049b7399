// Elements: a buffer for tests, of any type, at any alignment, in any kind of
// memory; poisoned at first, with a guard behind.
//
// Thread-safety: one thread. Ownership: owns its memory. Failure: kept in
// status(): symmetric memory may be used up.
//
// Example:
//   Elements output(DataType::kFloat32, count, {.misalignment = 1});
//   EXPECT_EQ(output.Wrong(want), 0u);
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/test_data.h"
#include "collectives/symmetric_buffer.h"

namespace rondo {

struct ElementsOptions {
  size_t misalignment = 0;  // bytes
  bool symmetric = false;
};

class Elements {
 public:
  Elements(DataType type, size_t count, ElementsOptions options = {})
      : type_(type), count_(count), shift_(options.misalignment) {
    const size_t bytes = shift_ + count * ElementSize(type) + kGuard;
    if (options.symmetric) {
      auto symmetric = SymmetricBuffer::Allocate(bytes);
      status_ = symmetric.status();
      if (!status_.ok()) return;
      symmetric_ = *std::move(symmetric);
      begin_ = static_cast<char*>(symmetric_.data());
    } else {
      ordinary_.resize(bytes);
      begin_ = ordinary_.data();
    }
    std::memset(begin_, 0xa5, bytes);
  }

  const Status& status() const { return status_; }
  char* at(size_t element) {
    return begin_ + shift_ + element * ElementSize(type_);
  }
  bool GuardIntact() {
    const char* guard = at(count_);
    return std::all_of(guard, guard + kGuard,
                       [](char byte) { return byte == '\xa5'; });
  }
  size_t Wrong(Elements& want) {
    return CountWrong(type_, at(0), want.at(0), count_);
  }

 private:
  static constexpr size_t kGuard = 64;
  DataType type_;
  size_t count_;
  size_t shift_;
  Status status_;
  std::vector<char> ordinary_;
  SymmetricBuffer symmetric_;
  char* begin_ = nullptr;
};

}  // namespace rondo
