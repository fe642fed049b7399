#include "perf/plan/plan_choice.h"

#include "collectives/plan/printer.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo::perf {
namespace {

TEST(PlanChoiceTest, EveryCollectiveHasAProvedPlan) {
  for (const std::string& name : PlannableCollectives()) {
    for (int ranks : {1, 2, 6}) {
      auto shape = MakeShape({.collective = name, .ranks = ranks});
      ASSERT_TRUE(shape.ok()) << name << ": " << shape.status().ToString();
      EXPECT_EQ(CollectiveName(shape->collective), name);
      EXPECT_EQ(shape->ranks, ranks);
      EXPECT_TRUE(VerifyShape(*shape).ok()) << name;
    }
  }
}

TEST(PlanChoiceTest, TheFirstAlgorithmIsTheDefaultAndOthersCanBeNamed) {
  for (const char* name : {"all_gather", "reduce_scatter", "sharded_step"}) {
    EXPECT_EQ(MakeShape({.collective = name, .ranks = 3})->algorithm, "ring");
    auto direct =
        MakeShape({.collective = name, .algorithm = "direct", .ranks = 3});
    ASSERT_TRUE(direct.ok()) << direct.status().ToString();
    EXPECT_EQ(direct->algorithm, "direct");
    EXPECT_TRUE(VerifyShape(*direct).ok()) << name;
  }
}

TEST(PlanChoiceTest, RefusalsSayWhatIsAccepted) {
  const auto message = [](const PlanChoice& choice) {
    return MakeShape(choice).status().message();
  };
  EXPECT_NE(message({.collective = "all_to_all", .ranks = 2})
                .find("\"all_to_all\" is no collective; accepted is "
                      "all_gather, reduce_scatter, sharded_step, "
                      "reduce_update, update_gather, broadcast, "
                      "barrier"),
            std::string::npos);
  EXPECT_NE(message({.collective = "barrier", .algorithm = "ring", .ranks = 2})
                .find("no algorithm \"ring\"; accepted is dissemination"),
            std::string::npos);
  EXPECT_NE(message({.collective = "broadcast", .ranks = 3, .root = 3})
                .find("root 3 is refused: with 3 ranks, accepted is 0 to 2"),
            std::string::npos);
  EXPECT_NE(message({.collective = "all_gather", .ranks = 3, .root = 1})
                .find("all_gather has no root"),
            std::string::npos);
}

TEST(PlanChoiceTest, AllRanksGiveThePrintersText) {
  auto shape = MakeShape({.collective = "all_gather", .ranks = 3});
  auto facts = VerifyShape(*shape);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(PartOfShapeToText(*shape, &*facts, {0, 1, 2}, 100),
            ShapeToText(*shape, &*facts));
  EXPECT_EQ(PartOfShapeToText(*shape, nullptr, {0, 1, 2}, 100),
            ShapeToText(*shape, nullptr));
}

TEST(PlanChoiceTest, APartShowsThatRankAndSaysWhatIsLeftOut) {
  auto shape = MakeShape({.collective = "all_gather", .ranks = 20});
  auto facts = VerifyShape(*shape);
  ASSERT_TRUE(facts.ok());
  const std::string text = PartOfShapeToText(*shape, &*facts, {7}, 2);
  const std::string all = ShapeToText(*shape, &*facts);
  const size_t begin = all.find("\nrank 7");
  const std::string rank7 = all.substr(begin, all.find("\nrank 8") - begin);
  EXPECT_NE(text.find(rank7), std::string::npos) << text;
  EXPECT_EQ(text.find("\nrank 8"), std::string::npos);
  EXPECT_NE(text.find("link 1 -> 2"), std::string::npos);
  EXPECT_EQ(text.find("link 2 -> 3"), std::string::npos);
  EXPECT_NE(text.find("... and 18 more links\n"), std::string::npos);
  EXPECT_NE(text.find("... and 19 more ranks\n"), std::string::npos);
}

TEST(PlanChoiceTest, JsonOfOneRankIsThatProgram) {
  auto shape = MakeShape({.collective = "reduce_scatter", .ranks = 4});
  const auto part =
      nlohmann::json::parse(RankOfShapeToJson(*shape, nullptr, 2));
  const auto all = nlohmann::json::parse(ShapeToJson(*shape, nullptr));
  ASSERT_EQ(part["programs"].size(), 1u);
  EXPECT_EQ(part["programs"][0], all["programs"][2]);
  EXPECT_EQ(part["ranks"], 4);
}

}  // namespace
}  // namespace rondo::perf
