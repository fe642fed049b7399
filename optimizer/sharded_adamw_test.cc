#include "optimizer/sharded_adamw.h"

#include <algorithm>
#include <latch>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "collectives/testing/world.h"
#include "gtest/gtest.h"
#include "optimizer/testing/step_run.h"

namespace rondo {
namespace {

TEST(ShardedAdamWTest, ChunksAndShardBordersDoNotChangeBits) {
  // Two ranks add in either order: a + b is b + a.
  const std::vector<RankOutcome> small =
      RunSteps(2, SomeOptions({3001, 4002}, 1));
  const std::vector<RankOutcome> large =
      RunSteps(2, SomeOptions({3001, 4002}, 4096), /*settings=*/{});
  EXPECT_EQ(small[0].parameters, large[0].parameters);
}

TEST(ShardedAdamWTest, AStartedStepGivesTheSameBits) {
  const ShardedAdamWOptions options = SomeOptions({3001});
  const std::vector<RankOutcome> blocking = RunSteps(2, options);
  RunWorld({.ranks = 2, .settings = kSmallChunks}, [&](Communicator& comm) {
    auto optimizer =
        ShardedAdamW::Create(&comm, options, InitialValues(options).data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    std::vector<float> parameters(3001);
    for (int step = 1; step <= kRunSteps; ++step) {
      const TypedValues gradient = GradientOf(options, step, comm.rank());
      auto request =
          (*optimizer)->StepStart(gradient.bytes.data(), parameters.data());
      ASSERT_TRUE(request.ok()) << request.status().ToString();
      EXPECT_TRUE(request->Wait().ok());
    }
    const char* bytes = reinterpret_cast<const char*>(parameters.data());
    EXPECT_TRUE(std::equal(blocking[0].parameters.begin(),
                           blocking[0].parameters.end(), bytes));
  });
}

TEST(ShardedAdamWTest, OneStepAtATimeAndTheDestructorWaits) {
  std::latch refused(1);
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    const std::vector<float> ones(64, 1.0f);
    std::vector<float> parameters(64);
    auto optimizer =
        ShardedAdamW::Create(&comm, SomeOptions({64}), ones.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    // Rank 0's step cannot end before rank 1 has started its own.
    if (comm.rank() == 1) refused.wait();
    EXPECT_TRUE((*optimizer)->StepStart(ones.data(), parameters.data()).ok());
    if (comm.rank() == 0) {
      auto second = (*optimizer)->StepStart(ones.data(), parameters.data());
      EXPECT_EQ(second.status().code(), Code::kInvalidUsage);
      refused.count_down();
    }
    optimizer->reset();
    EXPECT_NE(parameters[0], 0.0f);
    EXPECT_EQ(parameters, std::vector<float>(64, parameters[0]));
  });
}

TEST(ShardedAdamWTest, TheLearningRateChangesFromTheNextStepOn) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    const std::vector<float> ones(64, 1.0f);
    std::vector<float> parameters(64);
    ShardedAdamWOptions options = SomeOptions({64});
    options.hyper.weight_decay = 0;
    auto optimizer = ShardedAdamW::Create(&comm, options, ones.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    EXPECT_TRUE((*optimizer)->SetLearningRate(0).ok());
    EXPECT_TRUE((*optimizer)->Step(ones.data(), parameters.data()).ok());
    EXPECT_EQ(parameters, ones);
    EXPECT_TRUE((*optimizer)->SetLearningRate(0.5).ok());
    EXPECT_TRUE((*optimizer)->Step(ones.data(), parameters.data()).ok());
    // m and v are corrected to 1: a step of 0.5 / (1 + 0.25).
    for (float value : parameters) EXPECT_NEAR(value, 0.6, 1e-6);
    EXPECT_FALSE((*optimizer)->SetLearningRate(-1).ok());
  });
}

TEST(ShardedAdamWTest, BytesAreCountedByClass) {
  RunWorld({.ranks = 3}, [](Communicator& comm) {
    const std::vector<float> zeros(2500, 0.0f);
    ShardedAdamWOptions options = SomeOptions({2000, 500}, 1024);
    options.parameter_type = DataType::kBfloat16;
    auto optimizer = ShardedAdamW::Create(&comm, options, zeros.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    const OptimizerBytes bytes = (*optimizer)->bytes();
    const size_t shard = comm.rank() < 2 ? 1024 : 452;
    EXPECT_EQ(bytes.parameters, 5000u);
    EXPECT_EQ(bytes.gradients, 10000u);
    EXPECT_EQ(bytes.master, 4 * shard);
    EXPECT_EQ(bytes.first_moment, 4 * shard);
    EXPECT_EQ(bytes.second_moment, 4 * shard);
    EXPECT_EQ(bytes.Total(), 15000 + 12 * shard + bytes.scratch);
  });
}

// What Create() says on each of three ranks when rank 1 has `odd` options.
std::vector<std::string> CreateMessages(const ShardedAdamWOptions& options,
                                        const ShardedAdamWOptions& odd,
                                        float odd_initial = 0) {
  std::vector<std::string> messages(3);
  RunWorld({.ranks = 3}, [&](Communicator& comm) {
    const bool is_odd = comm.rank() == 1;
    std::vector<float> initial(100, 0.0f);
    if (is_odd) initial[50] = odd_initial;
    auto optimizer =
        ShardedAdamW::Create(&comm, is_odd ? odd : options, initial.data());
    messages[comm.rank()] = optimizer.status().ToString();
    EXPECT_TRUE(comm.Barrier().ok()) << "the communicator stays usable";
  });
  return messages;
}

void ExpectAllSay(const std::vector<std::string>& messages,
                  const std::string& expected) {
  for (const std::string& message : messages) {
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
}

TEST(ShardedAdamWMismatchTest, EveryRankNamesRanksAndField) {
  const ShardedAdamWOptions options = SomeOptions({60, 40});
  ShardedAdamWOptions odd = options;
  odd.hyper.learning_rate = 0.25;
  ExpectAllSay(CreateMessages(options, odd),
               "learning_rate is 0.05 on ranks 0 and 2 and 0.25 on rank 1");
  odd = options;
  odd.gradient_type = DataType::kBfloat16;
  ExpectAllSay(CreateMessages(options, odd), "gradient_type is");
  odd = SomeOptions({60, 30, 10});
  ExpectAllSay(CreateMessages(options, odd),
               "the number of parameters is 2 on ranks 0 and 2 and 3 on rank "
               "1");
}

TEST(ShardedAdamWMismatchTest, TheFirstDifferingParameterIsNamed) {
  const std::vector<std::string> messages =
      CreateMessages(SomeOptions({60, 40}), SomeOptions({60, 39}));
  ExpectAllSay(messages, "parameter 1 (");
  EXPECT_NE(messages[0].find("'p1', 40 elements"), std::string::npos);
  EXPECT_NE(messages[1].find("'p1', 39 elements"), std::string::npos);
}

TEST(ShardedAdamWMismatchTest, DifferentInitialValuesAreFound) {
  ExpectAllSay(CreateMessages(SomeOptions({100}), SomeOptions({100}), 1e-30f),
               "on ranks 0 and 2 and something");
}

TEST(ShardedAdamWMismatchTest, OneRanksBadArgumentsEndCreateOnAll) {
  ShardedAdamWOptions odd = SomeOptions({100});
  odd.hyper.beta1 = 3;
  const std::vector<std::string> messages =
      CreateMessages(SomeOptions({100}), odd);
  EXPECT_NE(messages[1].find("beta1 is 3"), std::string::npos) << messages[1];
  for (int rank : {0, 2}) {
    EXPECT_NE(messages[rank].find("refused on rank 1"), std::string::npos)
        << messages[rank];
  }
}

TEST(ShardedAdamWFailureTest, AFailedStepIsReturnedByAllLaterOnes) {
  std::latch step_done(1);
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    const std::vector<float> ones(64, 1.0f);
    std::vector<float> parameters(64);
    auto optimizer =
        ShardedAdamW::Create(&comm, SomeOptions({64}), ones.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    EXPECT_EQ((*optimizer)->Step(nullptr, parameters.data()).code(),
              Code::kInvalidArgument);
    EXPECT_TRUE((*optimizer)->Step(ones.data(), parameters.data()).ok());
    if (comm.rank() == 1) {
      // An abort also ends calls that are over here but not yet on rank 0.
      step_done.wait();
      comm.Abort("the test wants it");
      EXPECT_FALSE((*optimizer)->Step(ones.data(), parameters.data()).ok());
      return;
    }
    step_done.count_down();
    const Status first = (*optimizer)->Step(ones.data(), parameters.data());
    const Status second = (*optimizer)->Step(ones.data(), parameters.data());
    EXPECT_EQ(first.code(), Code::kAborted) << first.ToString();
    EXPECT_EQ(second.code(), Code::kAborted) << second.ToString();
  });
}

}  // namespace
}  // namespace rondo
