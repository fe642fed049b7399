#include "perf/bench/statistics.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

// The definition of a nearest-rank percentile, by trying every sample.
double PercentileByCounting(const std::vector<int64_t>& samples,
                            double percent) {
  int64_t best = INT64_MAX;
  for (int64_t candidate : samples) {
    size_t not_above = 0;
    for (int64_t sample : samples) not_above += sample <= candidate;
    const double share = 100.0 * not_above / samples.size();
    if (share >= percent && candidate < best) best = candidate;
  }
  return best / 1e3;
}

// Mean of squares minus square of the mean, in long double.
double DeviationByMoments(const std::vector<int64_t>& samples) {
  long double sum = 0, squares = 0;
  for (int64_t sample : samples) {
    sum += sample;
    squares += static_cast<long double>(sample) * sample;
  }
  const long double mean = sum / samples.size();
  return static_cast<double>(std::sqrt(squares / samples.size() - mean * mean) /
                             1e3L);
}

TEST(StatisticsTest, AgreesWithTheDefinitions) {
  std::mt19937_64 random(7);
  for (size_t count : {1, 2, 3, 19, 20, 21, 99, 100, 101, 1000}) {
    std::vector<int64_t> samples(count);
    for (int64_t& sample : samples) sample = 1000 + random() % 50000;
    const IterationTimes times = Summarize(samples);
    EXPECT_DOUBLE_EQ(times.p50_us, PercentileByCounting(samples, 50)) << count;
    EXPECT_DOUBLE_EQ(times.p95_us, PercentileByCounting(samples, 95)) << count;
    EXPECT_DOUBLE_EQ(times.p99_us, PercentileByCounting(samples, 99)) << count;
    const double deviation = DeviationByMoments(samples);
    EXPECT_NEAR(times.stdev_us, deviation, 1e-6) << count;
    EXPECT_NEAR(times.cv_pct, 100 * deviation / times.mean_us, 1e-6) << count;
  }
}

TEST(StatisticsTest, SeesEverySample) {
  const IterationTimes times = Summarize({4000, 1000, 7000});
  EXPECT_DOUBLE_EQ(times.mean_us, 4);
  EXPECT_DOUBLE_EQ(times.min_us, 1);
  EXPECT_DOUBLE_EQ(times.max_us, 7);
  EXPECT_DOUBLE_EQ(times.p50_us, 4);
  EXPECT_DOUBLE_EQ(times.p99_us, 7);
}

TEST(StatisticsTest, NothingMeasuredIsZero) {
  const IterationTimes times = Summarize({});
  EXPECT_EQ(times.mean_us, 0);
  EXPECT_EQ(times.cv_pct, 0);
  EXPECT_EQ(AlgorithmBandwidth(1000, times.mean_us), 0);
}

TEST(StatisticsTest, BandwidthsFollowNcclTests) {
  // 8 GB in one second are 8 GB/s; 4 ranks pass on three quarters of them.
  EXPECT_DOUBLE_EQ(AlgorithmBandwidth(8000000000u, 1e6), 8);
  EXPECT_DOUBLE_EQ(BusFactor(Collective::kAllGather, 4), 0.75);
  EXPECT_DOUBLE_EQ(BusFactor(Collective::kReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor(Collective::kBroadcast, 4), 1);
  EXPECT_DOUBLE_EQ(BusFactor(Collective::kShardedStep, 4), 1.5);
  EXPECT_DOUBLE_EQ(BusFactor(Collective::kAllGather, 1), 0);
}

}  // namespace
}  // namespace rondo::perf
