#include "perf/plan/plan_choice.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "collectives/algorithms/algorithms.h"
#include "collectives/plan/printer.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace rondo::perf {
namespace {

struct Algorithm {
  Collective collective;
  const char* name;
  Shape (*make)(const PlanChoice& choice);
};

RankOrder Order(const PlanChoice& choice) {
  return RankOrder::Identity(choice.ranks);
}

// The first of a collective is its default.
constexpr Algorithm kAlgorithms[] = {
    {Collective::kAllGather, "ring",
     [](const PlanChoice& choice) { return RingAllGather(Order(choice)); }},
    {Collective::kAllGather, "direct",
     [](const PlanChoice& choice) { return DirectAllGather(choice.ranks); }},
    {Collective::kAllGather, "push",
     [](const PlanChoice& choice) {
       return DirectAllGatherPush(choice.ranks);
     }},
    {Collective::kReduceScatter, "ring",
     [](const PlanChoice& choice) { return RingReduceScatter(Order(choice)); }},
    {Collective::kReduceScatter, "direct",
     [](const PlanChoice& choice) {
       return DirectReduceScatter(choice.ranks);
     }},
    {Collective::kShardedStep, "ring",
     [](const PlanChoice& choice) { return RingShardedStep(Order(choice)); }},
    {Collective::kShardedStep, "direct",
     [](const PlanChoice& choice) { return DirectShardedStep(choice.ranks); }},
    {Collective::kShardedStep, "push",
     [](const PlanChoice& choice) {
       return DirectShardedStepPush(choice.ranks);
     }},
    {Collective::kReduceUpdate, "ring",
     [](const PlanChoice& choice) { return RingReduceUpdate(Order(choice)); }},
    {Collective::kReduceUpdate, "direct",
     [](const PlanChoice& choice) { return DirectReduceUpdate(choice.ranks); }},
    {Collective::kUpdateGather, "ring",
     [](const PlanChoice& choice) { return RingUpdateGather(Order(choice)); }},
    {Collective::kUpdateGather, "direct",
     [](const PlanChoice& choice) { return DirectUpdateGather(choice.ranks); }},
    {Collective::kUpdateGather, "push",
     [](const PlanChoice& choice) {
       return DirectUpdateGatherPush(choice.ranks);
     }},
    {Collective::kBroadcast, "chain",
     [](const PlanChoice& choice) {
       return ChainBroadcast(Order(choice), choice.root);
     }},
    {Collective::kBarrier, "dissemination",
     [](const PlanChoice& choice) {
       return DisseminationBarrier(choice.ranks);
     }},
};

// The shape with empty programs for all ranks but `shown`: printing it costs
// what is shown, not what exists.
Shape WithProgramsOf(const Shape& shape, const std::vector<int>& shown) {
  Shape part = shape;
  part.for_rank = [full = shape.for_rank, shown](int rank) {
    const bool wanted = std::binary_search(shown.begin(), shown.end(), rank);
    return wanted ? full(rank) : RankProgram{};
  };
  return part;
}

// The printed text cut before every "\nrank R": the summary, then one piece for
// each rank.
std::vector<std::string> PiecesByRank(const std::string& text) {
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("\n\nrank ", begin), text.size());
    pieces.push_back(text.substr(begin, end + 1 - begin));
    begin = end + 1;
  }
  return pieces;
}

PlanFacts WithLinks(const PlanFacts& facts, int max_links) {
  PlanFacts part = facts;
  auto& links = part.blocks_per_link;
  while (static_cast<int>(links.size()) > max_links) {
    links.erase(std::prev(links.end()));
  }
  return part;
}

}  // namespace

std::vector<std::string> PlannableCollectives() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : kAlgorithms) {
    const std::string_view name = CollectiveName(algorithm.collective);
    if (names.empty() || names.back() != name) names.emplace_back(name);
  }
  return names;
}

Result<Shape> MakeShape(const PlanChoice& choice) {
  if (choice.root < 0 || choice.root >= choice.ranks) {
    return InvalidArgument(
        fmt::format("root {} is refused: with {} ranks, accepted is 0 to {}",
                    choice.root, choice.ranks, choice.ranks - 1));
  }
  if (choice.root != 0 && choice.collective != "broadcast") {
    return InvalidArgument(fmt::format("root {} is refused: {} has no root",
                                       choice.root, choice.collective));
  }
  std::vector<std::string> names;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (CollectiveName(algorithm.collective) != choice.collective) continue;
    if (choice.algorithm.empty() || choice.algorithm == algorithm.name) {
      return algorithm.make(choice);
    }
    names.emplace_back(algorithm.name);
  }
  if (names.empty()) {
    return InvalidArgument(fmt::format(
        "\"{}\" is no collective; accepted is {}", choice.collective,
        fmt::join(PlannableCollectives(), ", ")));
  }
  return InvalidArgument(
      fmt::format("{} has no algorithm \"{}\"; accepted is {}",
                  choice.collective, choice.algorithm, fmt::join(names, ", ")));
}

std::string PartOfShapeToText(const Shape& shape, const PlanFacts* facts,
                              const std::vector<int>& shown, int max_links) {
  const PlanFacts part =
      facts == nullptr ? PlanFacts{} : WithLinks(*facts, max_links);
  const std::vector<std::string> pieces = PiecesByRank(ShapeToText(
      WithProgramsOf(shape, shown), facts == nullptr ? nullptr : &part));
  std::string text = pieces.front();
  const size_t all_links = facts == nullptr ? 0 : facts->blocks_per_link.size();
  if (all_links > part.blocks_per_link.size()) {
    text += fmt::format("... and {} more links\n",
                        all_links - part.blocks_per_link.size());
  }
  for (int rank : shown) text += pieces[rank + 1];
  const size_t hidden = static_cast<size_t>(shape.ranks) - shown.size();
  if (hidden > 0) text += fmt::format("\n... and {} more ranks\n", hidden);
  return text;
}

std::string RankOfShapeToJson(const Shape& shape, const PlanFacts* facts,
                              int rank) {
  auto json = nlohmann::ordered_json::parse(
      ShapeToJson(WithProgramsOf(shape, {rank}), facts));
  nlohmann::ordered_json program = json["programs"][rank];
  json["programs"] = nlohmann::ordered_json::array({std::move(program)});
  return json.dump(2) + "\n";
}

}  // namespace rondo::perf
