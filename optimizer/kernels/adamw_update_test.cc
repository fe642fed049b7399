#include "optimizer/kernels/adamw_update.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/half.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/adamw_reference.h"

namespace rondo {
namespace {

constexpr int kSteps = 10;

AdamWHyper LargeHyper() {
  return {.learning_rate = 0.05,
          .beta1 = 0.1,
          .beta2 = 0.2,
          .epsilon = 0.25,
          .weight_decay = 0.1};
}

// Values of one type, readable as doubles: conversions by half.h alone.
class Array {
 public:
  Array(DataType type, size_t count)
      : type_(type), bytes_(count * ElementSize(type)) {}

  void Set(size_t i, float value) {
    switch (type_) {
      case DataType::kFloat16:
        return Store(i, Half(value));
      case DataType::kBfloat16:
        return Store(i, Bfloat16(value));
      case DataType::kFloat64:
        return Store(i, static_cast<double>(value));
      default:
        return Store(i, value);
    }
  }
  double Get(size_t i) const {
    switch (type_) {
      case DataType::kFloat16:
        return static_cast<float>(Load<Half>(i));
      case DataType::kBfloat16:
        return static_cast<float>(Load<Bfloat16>(i));
      case DataType::kFloat64:
        return Load<double>(i);
      default:
        return Load<float>(i);
    }
  }
  ConstElements Source(size_t i) const {
    return {type_, bytes_.data() + i * ElementSize(type_)};
  }
  MutableElements Destination(size_t i) {
    return {type_, bytes_.data() + i * ElementSize(type_)};
  }
  DataType type() const { return type_; }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  template <typename T>
  void Store(size_t i, T value) {
    std::memcpy(bytes_.data() + i * sizeof(T), &value, sizeof(T));
  }
  template <typename T>
  T Load(size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }

  DataType type_;
  std::vector<char> bytes_;
};

Array RandomArray(DataType type, size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Array array(type, count);
  for (size_t i = 0; i < count; ++i) array.Set(i, normal(generator));
  return array;
}

std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  const Array array = RandomArray(DataType::kFloat32, count, seed);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(array.Get(i));
  }
  return values;
}

ShardLayout OneParameter(size_t count) {
  return *ShardLayout::Create({{"weight", count}}, 1);
}

UpdateRange WholeRange(size_t count) { return {0, 0, count, 0}; }

std::string Message(const Result<UpdateOutcome>& result) {
  return result.ok() ? "accepted" : result.status().message();
}

struct Case {
  size_t count;
  std::vector<DataType> sources;
  DataType destination;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.count << " elements, " << c.sources.size() << " sources to "
       << DataTypeName(c.destination);
}

class AdamWUpdateAccuracyTest : public testing::TestWithParam<Case> {};

TEST_P(AdamWUpdateAccuracyTest, EveryElementStaysWithinTheDerivedBound) {
  const auto& [count, source_types, destination_type] = GetParam();
  const AdamWHyper hyper = LargeHyper();
  const double scale = 1.0 / static_cast<double>(source_types.size());
  const std::vector<float> initial = RandomFloats(count, 7);
  auto update =
      AdamWUpdate::Create(OneParameter(count), 0, hyper, scale, initial);
  ASSERT_TRUE(update.ok()) << update.status().ToString();
  std::vector<AdamWReference> reference(initial.begin(), initial.end());
  Array mine(destination_type, count);
  Array peers(DataType::kFloat64, count);

  for (int step = 1; step <= kSteps; ++step) {
    std::vector<Array> gradients;
    std::vector<ConstElements> sources;
    for (DataType type : source_types) {
      gradients.push_back(
          RandomArray(type, count, 1000 * step + gradients.size()));
    }
    for (const Array& gradient : gradients)
      sources.push_back(gradient.Source(0));
    ASSERT_TRUE(update->BeginStep(step).ok());
    auto outcome =
        update->Apply(WholeRange(count), sources,
                      std::vector<MutableElements>{mine.Destination(0),
                                                   peers.Destination(0)});
    ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
    EXPECT_EQ(*outcome, UpdateOutcome::kDone);
    EXPECT_EQ(update->applied_count(), count);
    for (size_t i = 0; i < count; ++i) {
      GradientSum sum;
      for (const Array& gradient : gradients) sum.Add(gradient.Get(i));
      reference[i].Step(hyper, step, /*decay=*/true, sum.Scaled(scale),
                        sum.ScaledBound(scale));
    }
  }

  for (size_t i = 0; i < count; ++i) {
    const AdamWReference& element = reference[i];
    ASSERT_NEAR(update->master()[i], element.p(), element.p_bound()) << i;
    ASSERT_NEAR(update->first_moment()[i], element.m(), element.m_bound());
    ASSERT_NEAR(update->second_moment()[i], element.v(), element.v_bound());
    ASSERT_NEAR(mine.Get(i), element.p(), element.p_bound(destination_type));
    ASSERT_EQ(peers.Get(i), update->master()[i]) << "all get the same value";
  }
}

constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kF64 = DataType::kFloat64;
constexpr DataType kF16 = DataType::kFloat16;
constexpr DataType kB16 = DataType::kBfloat16;

INSTANTIATE_TEST_SUITE_P(
    Cases, AdamWUpdateAccuracyTest,
    testing::Values(Case{0, {kF32}, kF32}, Case{1, {kF32}, kF32},
                    Case{7, {kF32, kF32}, kB16}, Case{1023, {kF16}, kF16},
                    Case{1024, {kB16, kF32}, kB16},
                    Case{1025, {kF64, kF32, kB16}, kF32},
                    Case{3001, {kF32, kF32, kF32, kF32, kF32}, kF16}));

TEST(AdamWUpdateTest, DestinationsAreRoundedToNearestEven) {
  const size_t count = 2000;
  auto update = AdamWUpdate::Create(OneParameter(count), 0, LargeHyper(), 1,
                                    RandomFloats(count, 1));
  ASSERT_TRUE(update.ok());
  ASSERT_TRUE(update->BeginStep(1).ok());
  const Array gradient = RandomArray(kF32, count, 2);
  Array bfloat16(kB16, count), half(kF16, count);
  ASSERT_TRUE(update
                  ->Apply(WholeRange(count),
                          std::vector<ConstElements>{gradient.Source(0)},
                          std::vector<MutableElements>{bfloat16.Destination(0),
                                                       half.Destination(0)})
                  .ok());
  for (size_t i = 0; i < count; ++i) {
    const float master = update->master()[i];
    ASSERT_EQ(bfloat16.Get(i), static_cast<float>(Bfloat16(master)));
    ASSERT_EQ(half.Get(i), static_cast<float>(Half(master)));
  }
}

// The same elements through other cuts and another order, and at other places
// of another shard, give the same bits.
TEST(AdamWUpdateTest, BitsDoNotDependOnCutsOrderOrPosition) {
  const size_t count = 2500;
  const size_t shift = 13;
  const std::vector<float> initial = RandomFloats(count, 3);
  std::vector<float> shifted_initial(shift, 0.0f);
  shifted_initial.insert(shifted_initial.end(), initial.begin(), initial.end());
  auto whole =
      AdamWUpdate::Create(OneParameter(count), 0, LargeHyper(), 0.5, initial);
  auto pieces = AdamWUpdate::Create(OneParameter(count + shift), 0,
                                    LargeHyper(), 0.5, shifted_initial);
  ASSERT_TRUE(whole.ok() && pieces.ok());
  const std::vector<std::pair<size_t, size_t>> cuts = {
      {1100, 1400}, {0, 1}, {1, 1099}};
  Array whole_out(kB16, count), pieces_out(kB16, count);

  for (int step = 1; step <= 3; ++step) {
    const Array a = RandomArray(kF32, count, 10 * step);
    const Array b = RandomArray(kB16, count, 10 * step + 1);
    ASSERT_TRUE(whole->BeginStep(step).ok());
    ASSERT_TRUE(pieces->BeginStep(step).ok());
    ASSERT_TRUE(
        whole
            ->Apply(WholeRange(count),
                    std::vector<ConstElements>{a.Source(0), b.Source(0)},
                    std::vector<MutableElements>{whole_out.Destination(0)})
            .ok());
    for (const auto& [at, length] : cuts) {
      ASSERT_TRUE(
          pieces
              ->Apply({0, shift + at, length, shift + at},
                      std::vector<ConstElements>{a.Source(at), b.Source(at)},
                      std::vector<MutableElements>{pieces_out.Destination(at)})
              .ok());
    }
  }
  EXPECT_EQ(whole_out.bytes(), pieces_out.bytes());
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(whole->master()[i]),
              std::bit_cast<uint32_t>(pieces->master()[i + shift]));
    ASSERT_EQ(std::bit_cast<uint32_t>(whole->second_moment()[i]),
              std::bit_cast<uint32_t>(pieces->second_moment()[i + shift]));
  }
}

TEST(AdamWUpdateTest, SourcesAreSummedInTheOrderGiven) {
  // (2^24 + 1) + 1 loses both ones in fp32; 1 + 1 + 2^24 keeps them.
  Array big(kF32, 1), one(kF32, 1), out(kF32, 1);
  big.Set(0, 0x1p24f);
  one.Set(0, 1);
  auto first_moment = [&](std::vector<ConstElements> sources) {
    auto update = AdamWUpdate::Create(OneParameter(1), 0, {.beta1 = 0}, 1,
                                      std::vector<float>{0});
    EXPECT_TRUE(update.ok());
    EXPECT_TRUE(update->BeginStep(1).ok());
    EXPECT_TRUE(update
                    ->Apply(WholeRange(1), sources,
                            std::vector<MutableElements>{out.Destination(0)})
                    .ok());
    return update->first_moment()[0];
  };
  EXPECT_EQ(first_moment({big.Source(0), one.Source(0), one.Source(0)}),
            0x1p24f);
  EXPECT_EQ(first_moment({one.Source(0), one.Source(0), big.Source(0)}),
            0x1p24f + 2);
}

TEST(AdamWUpdateTest, DecayIsSwitchedPerParameter) {
  auto layout =
      ShardLayout::Create({{"weight", 2, true}, {"bias", 2, false}}, 1);
  ASSERT_TRUE(layout.ok());
  const AdamWHyper hyper{.learning_rate = 0.5, .weight_decay = 0.5};
  auto update =
      AdamWUpdate::Create(*layout, 0, hyper, 1, std::vector<float>{1, 2, 1, 2});
  ASSERT_TRUE(update.ok());
  ASSERT_TRUE(update->BeginStep(1).ok());
  const Array zero(kF32, 2);
  Array out(kF32, 4);
  for (int parameter : {0, 1}) {
    const size_t at = 2 * parameter;
    ASSERT_TRUE(update
                    ->Apply({parameter, 0, 2, at},
                            std::vector<ConstElements>{zero.Source(0)},
                            std::vector<MutableElements>{out.Destination(at)})
                    .ok());
  }
  EXPECT_EQ(update->master(), (std::vector<float>{0.75f, 1.5f, 1, 2}));
}

class AdamWUpdateRefusalTest : public testing::Test {
 protected:
  AdamWUpdateRefusalTest() {
    // Rank 1 owns elements 8 to 12: the end of `weight` and all of `bias`.
    auto layout =
        ShardLayout::Create({{"weight", 9}, {"bias", 3}}, 2, /*alignment=*/8);
    update_.emplace(*AdamWUpdate::Create(*layout, 1, LargeHyper(), 1,
                                         std::vector<float>(12, 1.0f)));
  }

  std::string Refusal(UpdateRange range, DataType source = kF32,
                      DataType destination = kF32) {
    const std::vector<char> in(1000);
    std::vector<char> out(1000);
    return Message(update_->Apply(
        range, std::vector<ConstElements>{{source, in.data()}},
        std::vector<MutableElements>{{destination, out.data()}}));
  }

  std::optional<AdamWUpdate> update_;
};

TEST_F(AdamWUpdateRefusalTest, BeforeTheFirstStep) {
  EXPECT_NE(Refusal({1, 0, 1, 9}).find("BeginStep"), std::string::npos);
  EXPECT_FALSE(update_->BeginStep(0).ok());
}

TEST_F(AdamWUpdateRefusalTest, RangesOutsideNameParameterOffsetAndCount) {
  ASSERT_TRUE(update_->BeginStep(1).ok());
  EXPECT_EQ(Refusal({0, 8, 1, 8}), "accepted");
  EXPECT_EQ(Refusal({1, 0, 3, 9}), "accepted");
  EXPECT_EQ(Refusal({1, 3, 0, 12}), "accepted");
  const std::vector<UpdateRange> refused = {
      {0, 7, 1, 7},   // another rank's element
      {0, 8, 2, 8},   // past the parameter's end
      {1, 2, 2, 11},  // past the vector's end
      {1, 0, 1, 8},   // offsets that contradict each other
      {1, 4, 0, 13},         {1, ~size_t{0}, 2, 8},  // wraps around
      {1, 1, ~size_t{0}, 10}};
  for (const UpdateRange& range : refused) {
    const std::string expected = "offset " + std::to_string(range.offset) +
                                 ", count " + std::to_string(range.count);
    const std::string message = Refusal(range);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_NE(message.find(range.parameter == 0 ? "weight" : "bias"),
              std::string::npos)
        << message;
  }
  EXPECT_NE(Refusal({2, 0, 1, 8}).find("parameter 2"), std::string::npos);
  EXPECT_NE(Refusal({-1, 0, 1, 8}).find("parameter -1"), std::string::npos);
}

TEST_F(AdamWUpdateRefusalTest, IntegersLeaveTheStateUntouched) {
  ASSERT_TRUE(update_->BeginStep(1).ok());
  EXPECT_NE(Refusal({1, 0, 3, 9}, DataType::kInt32).find("type int32"),
            std::string::npos);
  EXPECT_NE(Refusal({1, 0, 3, 9}, kF32, DataType::kUint8).find("type uint8"),
            std::string::npos);
  EXPECT_FALSE(update_->Apply({1, 0, 3, 9}, {}, {}).ok());
  EXPECT_EQ(update_->master(), std::vector<float>(4, 1.0f));
  EXPECT_EQ(update_->applied_count(), 0u);
}

TEST(AdamWUpdateTest, CreateRefusesWhatDoesNotFit) {
  const std::vector<float> initial(4, 0.0f);
  EXPECT_FALSE(AdamWUpdate::Create(OneParameter(5), 0, {}, 1, initial).ok());
  EXPECT_FALSE(AdamWUpdate::Create(OneParameter(4), 1, {}, 1, initial).ok());
  EXPECT_FALSE(AdamWUpdate::Create(OneParameter(4), 0, {}, NAN, initial).ok());
  EXPECT_FALSE(
      AdamWUpdate::Create(OneParameter(4), 0, {.beta1 = 2}, 1, initial).ok());
}

}  // namespace
}  // namespace rondo
