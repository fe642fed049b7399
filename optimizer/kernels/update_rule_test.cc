// The interface as its header shows it to those who derive from it.

#include "optimizer/kernels/update_rule.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>

#include "gtest/gtest.h"
#include "transports/base/status.h"

namespace rondo {
namespace {

class SignRule final : public UpdateRule {
 public:
  std::string_view name() const override { return "sign"; }
  int state_count() const override { return 0; }
  int group_count() const override { return 1; }
  Status BeginStep(int64_t) override { return Status::Ok(); }
  uint64_t Fingerprint() const override {
    return RuleFingerprint().Add(name()).Add(kRate).value();
  }
  void ApplyTile(int, const float* gradient, float* parameter, float* const*,
                 size_t count) const override {
    for (size_t i = 0; i < count; ++i) {
      if (gradient[i] != 0) {
        parameter[i] -= std::copysign(kRate, gradient[i]);
      }
    }
  }

 private:
  static constexpr float kRate = 0.25f;
};

TEST(UpdateRuleTest, TheExampleOfTheHeaderIsAnOptimizer) {
  SignRule sign;
  UpdateRule& rule = sign;
  ASSERT_TRUE(rule.BeginStep(1).ok());
  const float gradient[] = {3, 0, -2};
  float parameter[] = {1, 1, 1};
  rule.ApplyTile(0, gradient, parameter, nullptr, 3);
  EXPECT_EQ(parameter[0], 0.75f);
  EXPECT_EQ(parameter[1], 1.0f);
  EXPECT_EQ(parameter[2], 1.25f);
}

TEST(RuleFingerprintTest, EqualValuesAgreeAndOthersDiffer) {
  const auto digest = [](std::string_view a, std::string_view b, double c,
                         int d) {
    return RuleFingerprint().Add(a).Add(b).Add(c).Add(d).value();
  };
  EXPECT_EQ(digest("ab", "c", 1, 2), digest("ab", "c", 1, 2));
  const std::set<uint64_t> others = {
      digest("ab", "c", 1, 2),  digest("a", "bc", 1, 2),
      digest("abc", "", 1, 2),  digest("ab", "c", 2, 1),
      digest("ab", "c", -1, 2), digest("ab", "c", std::nextafter(1, 2), 2),
      digest("ab", "c", 1, -2),
  };
  EXPECT_EQ(others.size(), 7u);
}

// A text is its length, in 8 bytes from the lowest, and its characters. With
// the constants as FNV publishes them, in decimal.
TEST(RuleFingerprintTest, IsFnv1aOnEveryMachine) {
  uint64_t want = 14695981039346656037u;
  for (int byte : {1, 0, 0, 0, 0, 0, 0, 0, int{'a'}}) {
    want ^= static_cast<uint64_t>(byte);
    want *= 1099511628211u;
  }
  EXPECT_EQ(RuleFingerprint().Add(std::string_view("a")).value(), want);
}

}  // namespace
}  // namespace rondo
