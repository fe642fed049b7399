#include "perf/step/step_benchmark.h"

#include <set>

#include "collectives/testing/world.h"
#include "gtest/gtest.h"
#include "perf/step/direct_collectives.h"

namespace rondo::perf {
namespace {

StepBenchmarkOptions SmallOptions() {
  StepBenchmarkOptions options;
  options.parameters = 5000;
  options.parameter_type = DataType::kBfloat16;
  options.bucket_count_target = 2048;
  options.rounds = 1;
  options.warmup_rounds = 0;
  return options;
}

// Wrong parameters on both ranks when a way with such collectives takes part.
template <typename Spoil>
int64_t WrongWith(bool clips, const Spoil& spoil) {
  int64_t wrong = -1;
  const StepBenchmarkOptions options = SmallOptions();
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    auto benchmark = StepBenchmark::Create(options, &comm);
    ASSERT_TRUE(benchmark.ok()) << benchmark.status().ToString();
    StepCollectives collectives = RondoCollectives(&comm, options.gradient_type,
                                                   ReduceWay::kReduceScatter);
    spoil(&collectives);
    (*benchmark)->AddSeparateStep("other", "other", clips, collectives);
    ProgressLine progress(false);
    StepRun run;
    const Status status = (*benchmark)->Run(&progress, &run);
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (comm.rank() == 0) wrong = run.wrong.value_or(-1);
  });
  return wrong;
}

TEST(StepBenchmarkTest, EveryFigureIsMeasuredAndNothingIsWrong) {
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    const StepBenchmarkOptions options = SmallOptions();
    const auto benchmark = StepBenchmark::Create(options, &comm);
    ASSERT_TRUE(benchmark.ok()) << benchmark.status().ToString();
    ProgressLine progress(false);
    StepRun run;
    ASSERT_TRUE((*benchmark)->Run(&progress, &run).ok());
    EXPECT_EQ(run.wrong, 0);
    EXPECT_EQ(run.checked, 5000);
    EXPECT_EQ(run.parameters, 5000);
    // 12 bytes for each parameter and for padding, divided by ranks.
    EXPECT_EQ(run.state_bytes, 12 * (3 * 2048) / 2);
    std::set<std::string> figures;
    for (const WayTimes& way : run.ways) {
      figures.insert(way.figure);
      EXPECT_GT(way.median_ms, 0) << way.figure;
    }
    EXPECT_EQ(figures, (std::set<std::string>{
                           "fused", "fused_clip", "unfused", "unfused_clip",
                           "unfused_clip_best", "limit", "copy"}));
  });
}

TEST(StepBenchmarkTest, ARightWayMayBeAdded) {
  for (bool clips : {false, true}) {
    EXPECT_EQ(WrongWith(clips, [](StepCollectives*) {}), 0);
  }
}

TEST(StepBenchmarkTest, AWrongScaleIsFound) {
  for (bool clips : {false, true}) {
    // Clipping hides a scale: only the norm gives it away.
    EXPECT_GT(WrongWith(clips, [](StepCollectives* c) { c->scale = 0.5f; }), 0);
  }
}

TEST(StepBenchmarkTest, AMissingGatherIsFound) {
  const auto spoil = [](StepCollectives* collectives) {
    collectives->all_gather = [](const LayoutBucket&, void*) {
      return Status::Ok();
    };
  };
  EXPECT_GT(WrongWith(false, spoil), 1000);
}

}  // namespace
}  // namespace rondo::perf
