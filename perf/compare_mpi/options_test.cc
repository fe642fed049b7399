#include "perf/compare_mpi/options.h"

#include <algorithm>
#include <map>

#include "gtest/gtest.h"
#include "perf/compare_mpi/launch.h"

namespace rondo::perf {
namespace {

using Words = std::vector<std::string>;

// The error, or "".
std::string Parse(Words arguments, CompareOptions* options) {
  CLI::App app("test");
  AddCompareOptions(&app, options);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return FinishCompareOptions(*options).message();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CompareOptionsTest, DefaultsCoverEverything) {
  CompareOptions options;
  ASSERT_EQ(Parse({}, &options), "");
  EXPECT_EQ(options.sweep.min_bytes, 8);
  EXPECT_EQ(options.sweep.max_bytes, 268435456);
  EXPECT_EQ(options.collectives.size(), 2u);
  EXPECT_EQ(options.in_place, (std::vector<bool>{false, true}));
  EXPECT_EQ(options.alternations, 5);
  EXPECT_EQ(options.rerun_alternations, 15);
  EXPECT_EQ(options.ranks, 0);
  EXPECT_FALSE(options.as_rank);
}

TEST(CompareOptionsTest, EveryOptionArrives) {
  CompareOptions options;
  ASSERT_EQ(Parse({"--ranks",
                   "3",
                   "-b",
                   "1Ki",
                   "-e",
                   "2Ki",
                   "-c",
                   "reduce_scatter",
                   "--place",
                   "in_place,out_of_place",
                   "--buffers",
                   "user",
                   "--alternations",
                   "7",
                   "--rerun-alternations",
                   "9",
                   "-J",
                   "a.json",
                   "--svg",
                   "a.svg",
                   "--mpirun",
                   "mpiexec",
                   "--as-rank"},
                  &options),
            "");
  EXPECT_EQ(options.ranks, 3);
  EXPECT_EQ(options.sweep.min_bytes, 1024);
  EXPECT_EQ(options.sweep.max_bytes, 2048);
  EXPECT_EQ(options.collectives,
            std::vector<Collective>{Collective::kReduceScatter});
  EXPECT_EQ(options.in_place, (std::vector<bool>{true, false}));
  EXPECT_EQ(options.buffers, std::vector<BufferKind>{BufferKind::kUser});
  EXPECT_EQ(options.alternations, 7);
  EXPECT_EQ(options.rerun_alternations, 9);
  EXPECT_EQ(options.json_path, "a.json");
  EXPECT_EQ(options.svg_path, "a.svg");
  EXPECT_EQ(options.launcher, "mpiexec");
  EXPECT_TRUE(options.as_rank);
}

TEST(CompareOptionsTest, WhatIsNotAcceptedIsQuoted) {
  const std::vector<std::pair<Words, std::string>> refusals = {
      {{"-c", "broadcast"}, "\"broadcast\" is refused; accepted is all_gather"},
      {{"-c", ""}, "\"\" is refused"},
      {{"-c", "all_gather,"}, "\"\" is refused"},
      {{"--place", "in_place,in_place"}, "twice"},
      {{"--buffers", "gpu"}, "\"gpu\" is refused; accepted is user"},
      {{"--ranks", "1"}, "from 2 to"},
      {{"-b", "2Ki", "-e", "1Ki"}, "larger than --maxbytes, 1Ki"},
      {{"-e", "8Gi"}, "MPI counts at most 8589934588 bytes"},
      {{"--alternations", "0"}, "\"0\""}};
  for (const auto& [words, said] : refusals) {
    CompareOptions options;
    const std::string error = Parse(words, &options);
    EXPECT_TRUE(Contains(error, said)) << words[1] << ": " << error;
  }
}

TEST(CompareLaunchTest, RanksKnowWhatTheyAre) {
  CompareOptions options;
  using Variables = std::map<std::string, std::string>;
  const EnvironmentReader open_mpi(Variables{{"OMPI_COMM_WORLD_RANK", "0"}});
  const EnvironmentReader mpich(Variables{{"PMI_RANK", "0"}});
  EXPECT_TRUE(IsRank(MpiFlavor::kOpenMpi, options, open_mpi));
  EXPECT_FALSE(IsRank(MpiFlavor::kOpenMpi, options, mpich));
  EXPECT_TRUE(IsRank(MpiFlavor::kMpich, options, mpich));
  EXPECT_FALSE(IsRank(MpiFlavor::kMpich, options, EnvironmentReader()));
  options.as_rank = true;
  EXPECT_TRUE(IsRank(MpiFlavor::kMpich, options, EnvironmentReader()));
}

TEST(CompareLaunchTest, TheLauncherGetsTheCommandWithTheRanksMadePlain) {
  EXPECT_EQ(
      LauncherCommand(MpiFlavor::kOpenMpi, "mpirun", 4, true, "/p/vs",
                      {"-b", "8", "--ranks", "4", "-e", "16"}),
      (Words{"mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4",
             "/p/vs", "--as-rank", "--ranks", "4", "-b", "8", "-e", "16"}));
  EXPECT_EQ(
      LauncherCommand(MpiFlavor::kMpich, "mpirun.mpich", 2, true, "/p/vs", {}),
      (Words{"mpirun.mpich", "-np", "2", "/p/vs", "--as-rank", "--ranks",
             "2"}));
  EXPECT_EQ(WithoutRankMark({"vs", "--as-rank", "--ranks", "2", "-b", "8"}),
            (Words{"vs", "--ranks", "2", "-b", "8"}));
}

TEST(CompareOptionsTest, AStepHasItsOwnOptionsAndSharesSome) {
  CompareOptions options;
  ASSERT_EQ(Parse({"step", "--params", "3Ki", "--buffers", "user", "--ranks",
                   "3", "-J", "x.json"},
                  &options),
            "");
  EXPECT_TRUE(options.step);
  EXPECT_EQ(options.step_options.parameters, 3072);
  EXPECT_EQ(options.step_options.buffers, BufferKind::kUser);
  EXPECT_EQ(options.ranks, 3);
  EXPECT_EQ(options.json_path, "x.json");
  EXPECT_EQ(options.buffers.size(), 2u);  // the collectives'
}

TEST(CompareOptionsTest, AStepRefusesWhatIsOfCollectives) {
  for (const Words& words :
       {Words{"step", "--svg", "x"}, Words{"step", "-b", "8"},
        Words{"--alternations", "3", "step"}}) {
    CompareOptions options;
    const std::string error = Parse(words, &options);
    EXPECT_TRUE(Contains(error, "no meaning with step")) << error;
    EXPECT_TRUE(Contains(error, "--ranks")) << error;
  }
  CompareOptions options;
  EXPECT_TRUE(
      Contains(Parse({"step", "--params", "2Ti"}, &options), "1099511627776"));
  EXPECT_TRUE(Contains(Parse({"-n", "3"}, &options), "-n"));
}

}  // namespace
}  // namespace rondo::perf
