// FloatArray: a large array of floats for state that every step goes through.
//
// Zeros at first, aligned to pages, in huge pages where the system has them:
// a step streams through gigabytes of state, and page walks would cost it.
//
// Thread-safety: as an array. Ownership: owns its memory; may be moved.
// Failure: Allocate() returns kResourceExhausted with the number of bytes.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(FloatArray moments, FloatArray::Allocate(count));
//   moments.data()[0] = 1;
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "transports/base/status.h"

namespace rondo {

class FloatArray {
 public:
  FloatArray() = default;
  ~FloatArray();
  FloatArray(FloatArray&& other) noexcept { *this = std::move(other); }
  FloatArray& operator=(FloatArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  static Result<FloatArray> Allocate(size_t count);

  float* data() { return data_; }
  const float* data() const { return data_; }
  size_t size() const { return count_; }
  std::span<float> span() { return {data_, count_}; }
  std::span<const float> span() const { return {data_, count_}; }

 private:
  float* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace rondo
