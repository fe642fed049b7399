#include "optimizer/examples/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

class CorpusFilesTest : public testing::Test {
 protected:
  CorpusFilesTest()
      : directory_(
            fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(directory_ / "licences");
  }
  ~CorpusFilesTest() override { fs::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text) {
    const fs::path path = directory_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  CorpusPlaces Places() const {
    return {.directory = directory_ / "licences",
            .files = {directory_ / "missing.md", directory_ / "README.md"}};
  }

  fs::path directory_;
};

std::string TextOf(const Corpus& corpus) {
  const std::vector<int> tokens(corpus.tokens.begin(), corpus.tokens.end());
  return corpus.Decode(tokens);
}

TEST(CorpusTest, BytesBecomeTokensInByteOrder) {
  const Corpus corpus = CorpusFromText("here", "banana\n\xff");
  EXPECT_EQ(corpus.vocabulary, "\nabn\xff");
  EXPECT_EQ(corpus.tokens, (std::vector<uint8_t>{2, 1, 3, 1, 3, 1, 0, 4}));
  EXPECT_EQ(TextOf(corpus), "banana\n\xff");
  EXPECT_EQ(corpus.source, "here");
}

TEST_F(CorpusFilesTest, DirectoryComesFirstInOrderOfNamesWithoutLinks) {
  Write("licences/B", "bbb");
  Write("licences/A", "aa");
  Write("README.md", "readme");
  fs::create_symlink("A", directory_ / "licences/0-link");
  fs::create_directory(directory_ / "licences/deeper");
  auto corpus = LoadCorpus("", Places());
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(TextOf(*corpus), "aabbb");
}

TEST_F(CorpusFilesTest, TheFirstFileThatExistsStandsIn) {
  Write("README.md", "readme");
  auto corpus = LoadCorpus("", Places());
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(TextOf(*corpus), "readme");
}

TEST_F(CorpusFilesTest, ANamedFileIsTakenAndCutAtTheLimit) {
  Write("licences/A", "aa");
  const std::string path =
      Write("long", std::string(kMaxCorpusBytes, 'x') + "y");
  auto corpus = LoadCorpus(path, Places());
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(corpus->source, path);
  EXPECT_EQ(corpus->tokens.size(), kMaxCorpusBytes);
  EXPECT_EQ(corpus->vocabulary, "x");
}

TEST_F(CorpusFilesTest, ErrorsNameTheFileOrEveryPlace) {
  auto missing = LoadCorpus(directory_ / "nowhere", Places());
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("nowhere"), std::string::npos);
  EXPECT_NE(LoadCorpus(Write("empty", "")).status().message().find("empty"),
            std::string::npos);
  EXPECT_FALSE(LoadCorpus(directory_.string()).ok());
  auto nothing = LoadCorpus("", Places());
  ASSERT_FALSE(nothing.ok());
  for (const char* place : {"licences", "missing.md", "README.md"}) {
    EXPECT_NE(nothing.status().message().find(place), std::string::npos);
  }
}

TEST(BatchTest, PlacesDependOnSeedAndStepAloneAndStayInside) {
  const Corpus corpus = CorpusFromText("", std::string(50, 'a') + "b");
  const auto places = BatchPlaces(corpus, 5, 1, 2, 1000);
  EXPECT_EQ(places, BatchPlaces(corpus, 5, 1, 2, 1000));
  EXPECT_NE(places, BatchPlaces(corpus, 5, 1, 3, 1000));
  EXPECT_NE(places, BatchPlaces(corpus, 5, 2, 2, 1000));
  // Every place that has a context occurs, and no other.
  const std::set<size_t> distinct(places.begin(), places.end());
  EXPECT_EQ(distinct.size(), 46u);
  EXPECT_EQ(*distinct.begin(), 5u);
  EXPECT_EQ(*distinct.rbegin(), 50u);
}

TEST(BatchTest, SlicesOfAllRanksAreTheWholeBatchInOrder) {
  const std::vector<size_t> places = {3, 1, 4, 1, 5, 9, 2};
  for (int ranks : {1, 2, 3, 4, 7, 9}) {
    std::vector<size_t> joined;
    size_t shortest = places.size(), longest = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto slice = RankSlice(places, rank, ranks);
      joined.insert(joined.end(), slice.begin(), slice.end());
      shortest = std::min(shortest, slice.size());
      longest = std::max(longest, slice.size());
    }
    EXPECT_EQ(joined, places) << ranks;
    EXPECT_LE(longest - shortest, 1u) << ranks;
  }
}

TEST(BatchTest, SamplesAreContextsAndWhatFollows) {
  const Corpus corpus = CorpusFromText("", "abcde");
  const CharBatch batch = MakeBatch(corpus, 2, std::vector<size_t>{2, 4});
  EXPECT_EQ(batch.contexts, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(batch.targets, (std::vector<int>{2, 4}));
}

}  // namespace
}  // namespace rondo
