#include "optimizer/agreement/agreement.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace rondo {
namespace {

Agreement Settings(int64_t steps, double rate, uint64_t hash) {
  Agreement agreement("settings");
  agreement.AddInteger("steps", steps);
  agreement.AddNumber("rate", rate);
  agreement.AddHash("corpus", hash);
  return agreement;
}

// What rank 0 returns when the ranks hold `settings`.
Status Compared(const std::vector<Agreement>& settings) {
  std::vector<uint64_t> gathered;
  for (const Agreement& rank : settings) {
    const std::vector<uint64_t> encoded = rank.Encoded();
    gathered.insert(gathered.end(), encoded.begin(), encoded.end());
  }
  return settings[0].Compare(gathered);
}

TEST(AgreementTest, EqualSettingsPass) {
  EXPECT_TRUE(Compared({Settings(1, 0.5, 7)}).ok());
  EXPECT_TRUE(Compared({Settings(1, 0.5, 7), Settings(1, 0.5, 7)}).ok());
}

TEST(AgreementTest, ADifferenceNamesFieldValuesAndRanks) {
  const Status status =
      Compared({Settings(1, 0.5, 7), Settings(1, 0.25, 7), Settings(1, 0.5, 7),
                Settings(1, 0.25, 7), Settings(1, 0.25, 7)});
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_EQ(status.message(),
            "settings differ between ranks: rate is 0.5 on ranks 0 and 2 and "
            "0.25 on ranks 1, 3 and 4");
}

TEST(AgreementTest, NegativeIntegersAndHashesAreShown) {
  EXPECT_NE(Compared({Settings(1, 0.5, 7), Settings(-3, 0.5, 7)})
                .message()
                .find("steps is 1 on rank 0 and -3 on rank 1"),
            std::string::npos);
  EXPECT_NE(Compared({Settings(1, 0.5, 7), Settings(1, 0.5, 8)})
                .message()
                .find("corpus is something with hash"),
            std::string::npos);
}

TEST(AgreementTest, ARefusalIsNamedOnTheOtherRanks) {
  Agreement refusing = Settings(1, 0.5, 7);
  refusing.Refuse(Status::Ok());
  EXPECT_TRUE(Compared({Settings(1, 0.5, 7), refusing}).ok());
  refusing.Refuse(InvalidArgument("rate is -1"));
  const Status status = Compared({Settings(1, 0.5, 7), refusing});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("refused on rank 1"), std::string::npos);
}

TEST(AgreementTest, ManyRanksAreCountedNotListed) {
  std::vector<Agreement> settings = {Settings(1, 0.5, 7)};
  for (int i = 0; i < 100; ++i) settings.push_back(Settings(2, 0.5, 7));
  EXPECT_NE(Compared(settings).message().find(
                "2 on ranks 1, 2, 3, 4, 5, 6, 7, 8 and 92 more"),
            std::string::npos)
      << Compared(settings).message();
}

TEST(HashBytesTest, LengthOrderAndEveryByteCount) {
  std::set<uint64_t> hashes;
  const std::string text = "abcdefghijklmnopqrs";
  for (size_t length = 0; length <= text.size(); ++length) {
    hashes.insert(FingerprintText(text.substr(0, length)));
  }
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 1;
    hashes.insert(FingerprintText(changed));
  }
  hashes.insert(FingerprintText(std::string(3, '\0')));
  hashes.insert(FingerprintText(std::string(4, '\0')));
  EXPECT_EQ(hashes.size(), 2 * text.size() + 3);
  EXPECT_EQ(FingerprintText(text), FingerprintText(text));
  EXPECT_NE(FingerprintText(text, 1), FingerprintText(text, 2));
}

}  // namespace
}  // namespace rondo
