#include "perf/bench/collective_options.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

// Parses `arguments` as `rondo perf COLLECTIVE` would; the error, or "".
std::string Parse(std::vector<std::string> arguments,
                  CollectiveOptions* options,
                  Collective collective = Collective::kReduceScatter) {
  CLI::App app("test");
  AddCollectiveOptions(&app, collective, options);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return FinishCollectiveOptions(options).message();
}

TEST(CollectiveOptionsTest, DefaultsAreThoseOfNcclTests) {
  CollectiveOptions options;
  ASSERT_EQ(Parse({}, &options), "");
  EXPECT_EQ(options.sweep.min_bytes, 33554432);
  EXPECT_EQ(options.sweep.max_bytes, 33554432);
  EXPECT_EQ(options.sweep.factor, 2);
  EXPECT_EQ(options.iterations, 20);
  EXPECT_EQ(options.warmup_iterations, 1);
  EXPECT_TRUE(options.check);
  EXPECT_EQ(options.types, std::vector<DataType>{DataType::kFloat32});
  EXPECT_EQ(options.reductions, std::vector<Reduction>{Reduction::kSum});
  EXPECT_EQ(options.local_ranks, 0);
}

TEST(CollectiveOptionsTest, EveryFlagArrives) {
  CollectiveOptions options;
  ASSERT_EQ(Parse({"-b",
                   "64K",
                   "-e",
                   "64Ki",
                   "-i",
                   "1Ki",
                   "-n",
                   "5",
                   "-w",
                   "0",
                   "-c",
                   "0",
                   "-d",
                   "bfloat16",
                   "-o",
                   "avg",
                   "--ranks",
                   "3",
                   "--percentiles",
                   "-J",
                   "a.json",
                   "--csv",
                   "a.csv",
                   "--buffers",
                   "user"},
                  &options),
            "");
  EXPECT_EQ(options.sweep.min_bytes, 64000);
  EXPECT_EQ(options.sweep.max_bytes, 65536);
  EXPECT_EQ(options.sweep.step_bytes, 1024);
  EXPECT_EQ(options.iterations, 5);
  EXPECT_EQ(options.warmup_iterations, 0);
  EXPECT_FALSE(options.check);
  EXPECT_EQ(options.types, std::vector<DataType>{DataType::kBfloat16});
  EXPECT_EQ(options.reductions, std::vector<Reduction>{Reduction::kAverage});
  EXPECT_EQ(options.local_ranks, 3);
  EXPECT_TRUE(options.percentiles);
  EXPECT_EQ(options.json_path, "a.json");
  EXPECT_EQ(options.csv_path, "a.csv");
  EXPECT_EQ(options.buffers, BufferKind::kUser);
}

TEST(CollectiveOptionsTest, ABaseIsReadBeforeRanksAreStarted) {
  CollectiveOptions rank;  // rank 0 reads it, once all have met
  ASSERT_EQ(Parse({"--compare", "/no/base.json", "--tolerance", "25"}, &rank),
            "");
  EXPECT_EQ(rank.compare_path, "/no/base.json");
  EXPECT_EQ(rank.tolerance_pct, 25);
  CollectiveOptions launcher;
  EXPECT_EQ(launcher.tolerance_pct, 10);
  EXPECT_NE(Parse({"--compare", "/no/base.json", "--ranks", "2"}, &launcher)
                .find("/no/base.json"),
            std::string::npos);
  CollectiveOptions without;
  EXPECT_NE(Parse({"--tolerance", "5"}, &without).find("--compare"),
            std::string::npos);
}

TEST(CollectiveOptionsTest, AllMeansEveryTypeAndReduction) {
  CollectiveOptions options;
  ASSERT_EQ(Parse({"--datatype", "all", "--op=all"}, &options), "");
  EXPECT_EQ(options.types.size(), AllDataTypes().size());
  EXPECT_EQ(options.reductions.size(), AllReductions().size());
}

TEST(CollectiveOptionsTest, NothingIsReducedTwiceInAnAllGather) {
  CollectiveOptions options;
  ASSERT_EQ(Parse({"-o", "all"}, &options, Collective::kAllGather), "");
  EXPECT_EQ(options.reductions.size(), 1u);
}

TEST(CollectiveOptionsTest, RootIsForBroadcastOnly) {
  CollectiveOptions options;
  ASSERT_EQ(
      Parse({"-r", "2", "--ranks", "3"}, &options, Collective::kBroadcast), "");
  EXPECT_EQ(options.root, 2);
  CollectiveOptions other;
  EXPECT_NE(Parse({"-r", "2"}, &other, Collective::kAllGather), "");
}

// A refused command line, what the message must quote, and what it must offer.
struct Refusal {
  std::vector<std::string> arguments;
  std::string value;
  std::string accepted;
};

class RefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, NamesTheValueAndWhatIsAccepted) {
  CollectiveOptions options;
  const std::string error =
      Parse(GetParam().arguments, &options, Collective::kBroadcast);
  EXPECT_NE(error.find(GetParam().value), std::string::npos) << error;
  EXPECT_NE(error.find(GetParam().accepted), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Options, RefusalTest,
    testing::Values(
        Refusal{{"-b", "many"}, "\"many\"", "64Mi"},
        Refusal{{"-b", "0"}, "\"0\"", "from 1"},
        Refusal{{"-e", "-5"}, "\"-5\"", "from 1"},
        Refusal{{"-f", "1"}, "\"1\"", "from 2"},
        Refusal{{"-n", "0"}, "\"0\"", "from 1"},
        Refusal{{"-n", "1.5"}, "\"1.5\"", "whole number"},
        Refusal{{"-w", "x"}, "\"x\"", "from 0"},
        Refusal{{"-c", "2"}, "\"2\"", "0 or 1"},
        Refusal{{"--buffers", "gpu"}, "\"gpu\"", "user"},
        Refusal{{"--compare", "a", "--tolerance", "-1"}, "\"-1\"", "from 0"},
        Refusal{{"-d", "float8"}, "float8", "bfloat16"},
        Refusal{{"-d", "float8"}, "float8", "all"},
        Refusal{{"-o", "mean"}, "mean", "avg"},
        Refusal{{"--ranks", "0"}, "\"0\"", "from 1 to 1024"},
        Refusal{{"--ranks", "5000"}, "\"5000\"", "from 1 to 1024"},
        Refusal{
            {"--ranks", "2", "-r", "2"}, "--root 2", "0 to 1 in a world of 2"},
        Refusal{{"-b", "2Ki", "-e", "1Ki"}, "2048", "1024"},
        Refusal{{"-f", "2", "-i", "4"}, "stepfactor", "stepbytes"},
        Refusal{{"--frobnicate"}, "--frobnicate", "not expected"},
        Refusal{{"--ranks", "2", "-J", "/nonexistent/x"},
                "/nonexistent/x",
                "cannot write"}));

}  // namespace
}  // namespace rondo::perf
