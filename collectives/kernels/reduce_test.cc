// ReduceElements against a scalar reference: every type, reduction, shape,
// alignment and vector unit. Bits must agree.

#include "collectives/kernels/reduce.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/every_target.h"
#include "collectives/kernels/reduce_reference.h"
#include "collectives/kernels/store_hint.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

constexpr uint8_t kGuard = 0xa5;
constexpr size_t kGuardBytes = 64;

// Random bits are random integers, and floats of every kind: NaN, infinities
// and subnormals among them. `tame` floats have exponents near that of 1, so
// that sums round instead of swallowing one another.
Bytes RandomElements(DataType type, size_t count, uint64_t seed, bool tame) {
  Bytes data(count * ElementSize(type));
  uint64_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : data) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(state >> 56);
  }
  if (!tame || !IsFloatingPoint(type)) return data;
  // The upper two bytes hold sign and exponent of every float type.
  const size_t size = ElementSize(type);
  const uint8_t one = type == DataType::kFloat16 ? 0x3c : 0x3f;
  for (size_t i = 0; i < count; ++i) {
    uint8_t& top = data[(i + 1) * size - 1];
    top = static_cast<uint8_t>((top & 0x83) ^ one);
  }
  return data;
}

std::vector<Bytes> RandomSources(DataType type, size_t source_count,
                                 size_t count, bool tame) {
  std::vector<Bytes> sources;
  for (size_t s = 0; s < source_count; ++s) {
    sources.push_back(RandomElements(type, count, s + 17 * count + 1, tame));
  }
  return sources;
}

// How the arguments of one call lie in memory. Source i is misaligned by
// (source_shift + i) modulo 16 bytes.
struct Placement {
  size_t source_shift = 0;
  size_t output_shift = 0;
  int in_place_source = -1;
  StoreHint hint = StoreHint::kCached;
};

// Runs ReduceElements on copies of `sources` and returns what it wrote, after
// checking that it wrote nothing else.
Bytes Reduce(DataType type, Reduction reduction,
             const std::vector<Bytes>& sources, size_t count, int divisor,
             const Placement& placement = {}) {
  const size_t bytes = count * ElementSize(type);
  std::vector<Bytes> placed;
  std::vector<const void*> pointers;
  for (size_t s = 0; s < sources.size(); ++s) {
    const size_t shift = (placement.source_shift + s) % 16;
    placed.emplace_back(shift + bytes + kGuardBytes, kGuard);
    if (bytes > 0) {
      std::memcpy(placed[s].data() + shift, sources[s].data(), bytes);
    }
    pointers.push_back(placed[s].data() + shift);
  }
  Bytes output(placement.output_shift + bytes + kGuardBytes, kGuard);
  uint8_t* destination = output.data() + placement.output_shift;
  Bytes* written = &output;
  if (placement.in_place_source >= 0) {
    const auto source = static_cast<size_t>(placement.in_place_source);
    written = &placed[source];
    destination = written->data() + (placement.source_shift + source) % 16;
  }
  ReduceElements(type, reduction, pointers.data(),
                 static_cast<int>(sources.size()), destination, count,
                 ReduceScale{.divisor = divisor}, placement.hint);
  const auto begin = static_cast<size_t>(destination - written->data());
  for (size_t i = 0; i < written->size(); ++i) {
    if (i >= begin && i < begin + bytes) continue;
    EXPECT_EQ((*written)[i], kGuard) << "byte " << i << " was overwritten";
  }
  return Bytes(destination, destination + bytes);
}

class ReduceTest
    : public testing::TestWithParam<std::tuple<DataType, Reduction>> {
 protected:
  DataType type() const { return std::get<0>(GetParam()); }
  Reduction reduction() const { return std::get<1>(GetParam()); }
  // An average is the same code as a sum; dividing is what tells it apart.
  int divisor(size_t source_count) const {
    return reduction() == Reduction::kAverage ? static_cast<int>(source_count)
                                              : 1;
  }
};

TEST_P(ReduceTest, AgreesWithTheReferenceForEverySourceCountAndLength) {
  for (size_t source_count : {1, 2, 3, 5, 8, 17}) {
    for (size_t count : {0, 1, 2, 7, 31, 63, 64, 65, 129, 1003}) {
      for (bool tame : {true, false}) {
        const auto sources = RandomSources(type(), source_count, count, tame);
        const Bytes want = ReferenceReduce(type(), reduction(), sources, count,
                                           divisor(source_count));
        ForEveryTarget([&](const std::string& target) {
          ASSERT_EQ(ReduceTargetName(), target);
          EXPECT_EQ(Reduce(type(), reduction(), sources, count,
                           divisor(source_count)),
                    want)
              << target << ", " << source_count << " sources of " << count;
        });
      }
    }
  }
}

TEST_P(ReduceTest, GivesTheSameBitsAtEveryAlignmentAndStoreHint) {
  for (size_t count : {5, 65, 331}) {
    const auto sources = RandomSources(type(), 3, count, true);
    const Bytes want =
        ReferenceReduce(type(), reduction(), sources, count, divisor(3));
    ForEveryTarget([&](const std::string& target) {
      for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
        for (size_t shift = 0; shift < 16; ++shift) {
          const Placement aligned_output{shift, 0, -1, hint};
          const Placement shifted_output{3, shift, -1, hint};
          EXPECT_EQ(Reduce(type(), reduction(), sources, count, divisor(3),
                           aligned_output),
                    want)
              << target << ", sources shifted by " << shift;
          EXPECT_EQ(Reduce(type(), reduction(), sources, count, divisor(3),
                           shifted_output),
                    want)
              << target << ", output shifted by " << shift;
        }
      }
    });
  }
}

TEST_P(ReduceTest, WritesOverAnyOfItsSources) {
  const size_t count = 331;
  const auto sources = RandomSources(type(), 5, count, true);
  const Bytes want =
      ReferenceReduce(type(), reduction(), sources, count, divisor(5));
  ForEveryTarget([&](const std::string& target) {
    for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
      for (int in_place = 0; in_place < 5; ++in_place) {
        for (size_t shift : {0, 1, 8}) {
          EXPECT_EQ(Reduce(type(), reduction(), sources, count, divisor(5),
                           Placement{shift, 0, in_place, hint}),
                    want)
              << target << ", over source " << in_place;
        }
      }
    }
  });
}

TEST_P(ReduceTest, AnElementDoesNotDependOnItsPosition) {
  const size_t count = 200;
  const size_t size = ElementSize(type());
  const auto sources = RandomSources(type(), 3, count, true);
  const Bytes whole = Reduce(type(), reduction(), sources, count, divisor(3));
  ForEveryTarget([&](const std::string& target) {
    for (size_t first : {1, 2, 13, 64, 199}) {
      std::vector<Bytes> parts;
      for (const Bytes& source : sources) {
        parts.emplace_back(source.begin() + static_cast<long>(first * size),
                           source.end());
      }
      const Bytes want(whole.begin() + static_cast<long>(first * size),
                       whole.end());
      EXPECT_EQ(Reduce(type(), reduction(), parts, count - first, divisor(3)),
                want)
          << target << ", from element " << first;
    }
  });
}

TEST_P(ReduceTest, AgreesWithTheReferenceOnArraysOfSeveralPieces) {
  const size_t count = 20011;
  const auto sources = RandomSources(type(), 2, count, true);
  const Bytes want =
      ReferenceReduce(type(), reduction(), sources, count, divisor(2));
  for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
    // Misaligned to the elements, aligned, and in place.
    for (const Placement& placement :
         {Placement{5, 3, -1, hint}, Placement{0, 0, -1, hint},
          Placement{0, 0, 1, hint}}) {
      EXPECT_EQ(
          Reduce(type(), reduction(), sources, count, divisor(2), placement),
          want);
    }
  }
}

std::string ParamName(
    const testing::TestParamInfo<ReduceTest::ParamType>& info) {
  return std::string(DataTypeName(std::get<0>(info.param))) + "_" +
         std::string(ReductionName(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(EveryTypeAndReduction, ReduceTest,
                         testing::Combine(testing::ValuesIn(AllDataTypes()),
                                          testing::ValuesIn(AllReductions())),
                         ParamName);

}  // namespace
}  // namespace rondo
