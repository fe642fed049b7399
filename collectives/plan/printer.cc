#include "collectives/plan/printer.h"

#include "collectives/plan/programs.h"
#include "fmt/format.h"

namespace rondo {
namespace {

std::string SummaryToText(const Shape& shape) {
  std::string text = fmt::format("{} {}, {}", shape.algorithm,
                                 CollectiveName(shape.collective),
                                 CountToText(shape.ranks, "rank"));
  if (shape.rails != 1) text += ", " + CountToText(shape.rails, "rail");
  if (shape.collective == Collective::kBroadcast) {
    text += fmt::format(", from rank {}", shape.root);
  }
  return text + "\n";
}

std::string FactsToText(const PlanFacts* facts) {
  if (facts == nullptr) return "not verified\n";
  std::string text = fmt::format(
      "verified: {}, longest chain {}\n"
      "a rank sends at most {} and receives at most {}\n",
      CountToText(facts->total_steps, "step"),
      CountToText(facts->longest_chain, "transfer"),
      CountToText(facts->max_blocks_sent, "block"),
      CountToText(facts->max_blocks_received, "block"));
  for (const auto& [link, blocks] : facts->blocks_per_link) {
    text += fmt::format("link {} -> {}: {}\n", link.first, link.second,
                        CountToText(blocks, "block"));
  }
  return text;
}

std::string SectionToText(Section section, const std::vector<Step>& steps,
                          int rank) {
  if (steps.empty()) return "";
  std::string text = fmt::format("  {}\n", SectionName(section));
  for (size_t i = 0; i < steps.size(); ++i) {
    text += fmt::format("  {:>4}  {}\n", i, StepToText(steps[i], rank));
  }
  return text;
}

std::string ProgramToText(const RankProgram& program, int rank) {
  std::string text = fmt::format("\nrank {}", rank);
  if (program.scratch_blocks > 0) {
    text += ", " + CountToText(program.scratch_blocks, "scratch block");
  }
  text += "\n";
  text += SectionToText(Section::kPrologue, program.prologue, rank);
  text += SectionToText(Section::kChunk, program.chunk, rank);
  text += SectionToText(Section::kEpilogue, program.epilogue, rank);
  return text;
}

}  // namespace

std::string ShapeToText(const Shape& shape, const PlanFacts* facts) {
  std::string text = SummaryToText(shape) + FactsToText(facts);
  if (!shape.for_rank) return text;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    text += ProgramToText(shape.ForRank(rank), rank);
  }
  return text;
}

}  // namespace rondo
