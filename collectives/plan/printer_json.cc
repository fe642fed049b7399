#include <map>

#include "collectives/plan/levels.h"
#include "collectives/plan/printer.h"
#include "collectives/plan/programs.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

// Keeps keys in the order in which they are written here.
using Json = nlohmann::ordered_json;

constexpr int kMicrosecondsPerTick = 1000;

Json BlockToJson(const BlockRef& block) {
  Json json = {{"space", SpaceName(block.space)},
               {"owner", block.owner},
               {"index", block.index}};
  if (block.block >= 0) json["block"] = block.block;
  if (block.count != 1) {
    json["stride"] = block.stride;
    json["count"] = block.count;
  }
  return json;
}

Json BlocksToJson(const std::vector<BlockRef>& blocks) {
  Json json = Json::array();
  for (const BlockRef& block : blocks) json.push_back(BlockToJson(block));
  return json;
}

// Only what the step's kind uses.
Json StepToJson(const Step& step) {
  Json json = {{"kind", StepKindName(step.kind)}};
  if (!step.sources.empty()) json["sources"] = BlocksToJson(step.sources);
  if (!step.destinations.empty()) {
    json["destinations"] = BlocksToJson(step.destinations);
  }
  if (step.peer >= 0) json["peer"] = step.peer;
  if (step.message >= 0) json["message"] = step.message;
  if (step.flag >= 0) json["flag"] = step.flag;
  if (step.waits_for >= 0) json["waits_for"] = step.waits_for;
  if (step.completes_sum) json["completes_sum"] = true;
  return json;
}

Json StepsToJson(const std::vector<Step>& steps) {
  Json json = Json::array();
  for (const Step& step : steps) json.push_back(StepToJson(step));
  return json;
}

Json FactsToJson(const PlanFacts* facts) {
  if (facts == nullptr) return nullptr;
  Json links = Json::array();
  for (const auto& [link, blocks] : facts->blocks_per_link) {
    links.push_back(
        {{"from", link.first}, {"to", link.second}, {"blocks", blocks}});
  }
  return {{"max_blocks_sent", facts->max_blocks_sent},
          {"max_blocks_received", facts->max_blocks_received},
          {"total_steps", facts->total_steps},
          {"longest_chain", facts->longest_chain},
          {"links", links}};
}

Json ProgramsToJson(const Shape& shape) {
  Json json = Json::array();
  if (!shape.for_rank) return json;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const RankProgram program = shape.ForRank(rank);
    json.push_back({{"rank", rank},
                    {"scratch_blocks", program.scratch_blocks},
                    {"prologue", StepsToJson(program.prologue)},
                    {"chunk", StepsToJson(program.chunk)},
                    {"epilogue", StepsToJson(program.epilogue)}});
  }
  return json;
}

Json RowName(int rank) {
  return {{"name", "thread_name"},
          {"ph", "M"},
          {"pid", 0},
          {"tid", rank},
          {"args", {{"name", fmt::format("rank {}", rank)}}}};
}

// The steps of one rank, by the tick in which they happen; waits left out.
std::map<int, std::vector<int>> StepsByTick(
    const std::vector<PlacedStep>& steps, const std::vector<int>& ticks) {
  std::map<int, std::vector<int>> by_tick;
  for (size_t at = 0; at < steps.size(); ++at) {
    const bool shown =
        ticks[at] >= 0 && steps[at].step->kind != StepKind::kWait;
    if (shown) by_tick[ticks[at]].push_back(static_cast<int>(at));
  }
  return by_tick;
}

void AddRow(const Programs& programs, int rank, const std::vector<int>& ticks,
            Json* events) {
  events->push_back(RowName(rank));
  const std::vector<PlacedStep>& steps = programs.steps(rank);
  for (const auto& [tick, at] : StepsByTick(steps, ticks)) {
    const double share = double{kMicrosecondsPerTick} / at.size();
    for (size_t i = 0; i < at.size(); ++i) {
      const PlacedStep& placed = steps[at[i]];
      events->push_back({{"name", StepToText(*placed.step, rank)},
                         {"cat", StepKindName(placed.step->kind)},
                         {"ph", "X"},
                         {"ts", tick * kMicrosecondsPerTick + i * share},
                         {"dur", share},
                         {"pid", 0},
                         {"tid", rank},
                         {"args",
                          {{"section", SectionName(placed.section)},
                           {"step", placed.index},
                           {"level", tick}}}});
    }
  }
}

}  // namespace

std::string ShapeToJson(const Shape& shape, const PlanFacts* facts) {
  const Json json = {{"collective", CollectiveName(shape.collective)},
                     {"algorithm", shape.algorithm},
                     {"ranks", shape.ranks},
                     {"root", shape.root},
                     {"rails", shape.rails},
                     {"verified", facts != nullptr},
                     {"facts", FactsToJson(facts)},
                     {"programs", ProgramsToJson(shape)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ShapeToChromeTrace(const Shape& shape) {
  Json events = Json::array();
  if (shape.for_rank) {
    const Programs programs = Programs::Of(shape);
    const Levels levels = LevelsOf(programs, MakeSchedule(programs));
    for (int rank = 0; rank < programs.ranks(); ++rank) {
      AddRow(programs, rank, levels.tick[rank], &events);
    }
  }
  const Json json = {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rondo
