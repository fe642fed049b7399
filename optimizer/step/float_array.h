// FloatArray: a large array of floats for state that every step goes through.
//
// Zeros at first, aligned to cache lines, in huge pages where the system has
// them: a step streams through gigabytes of state, and page walks would cost
// it. Arrays of a step that go hand in hand should have different places: equal
// offsets into huge pages are the same bank of memory and the same lines of a
// cache, which cost a step a quarter of its speed.
//
// Thread-safety: as an array. Ownership: owns its memory; may be moved.
// Failure: Allocate() returns kResourceExhausted with the number of bytes.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(FloatArray first, FloatArray::Allocate(count, 0));
//   RONDO_ASSIGN_OR_RETURN(FloatArray second, FloatArray::Allocate(count, 1));
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
    std::swap(memory_, other.memory_);
    std::swap(memory_bytes_, other.memory_bytes_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  // `place`: 0 up to kPlaces - 1; larger ones begin again.
  static constexpr int kPlaces = 8;
  static Result<FloatArray> Allocate(size_t count, int place);

  float* data() { return data_; }
  const float* data() const { return data_; }
  size_t size() const { return count_; }
  std::span<float> span() { return {data_, count_}; }
  std::span<const float> span() const { return {data_, count_}; }

 private:
  void* memory_ = nullptr;
  size_t memory_bytes_ = 0;
  float* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace rondo
