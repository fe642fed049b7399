// The programs of all ranks of a shape, laid out for those who read them
// together: each rank's three sections in one list, and every transfer and flag
// matched with its counterpart at the other rank.
//
// Building one never fails: a step whose references are wrong is simply left
// without a counterpart, and structure.h says what is wrong with it.
//
// Thread-safety: immutable once built. Ownership: owns the programs; moving it
// keeps the pointers inside valid, copying would not and is ruled out.
//
// Example:
//   Programs programs = Programs::Of(shape);
//   for (const PlacedStep& placed : programs.steps(rank)) Use(*placed.step);
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/plan/plan.h"

namespace rondo {

enum class Section : uint8_t { kPrologue, kChunk, kEpilogue };

std::string_view SectionName(Section section);

// A step of one rank: `at` counts through prologue, chunk and epilogue.
struct StepId {
  int rank = -1;
  int at = -1;

  bool valid() const { return at >= 0; }
  friend bool operator==(const StepId&, const StepId&) = default;
};

struct PlacedStep {
  const Step* step = nullptr;
  Section section = Section::kPrologue;
  int index = 0;       // within its section
  int waits_for = -1;  // wait for a step: where it is in this rank's list
  int waited_at = -1;  // a transfer: where it is first waited for
  StepId counterpart;  // of a send, recv, signal or wait for a flag
  bool unique = true;  // no other step of this rank has the same key
};

class Programs {
 public:
  static Programs Of(const Shape& shape);

  Programs(Programs&&) = default;
  Programs& operator=(Programs&&) = default;

  int ranks() const { return static_cast<int>(steps_.size()); }
  int scratch_blocks(int rank) const { return programs_[rank].scratch_blocks; }
  const std::vector<PlacedStep>& steps(int rank) const { return steps_[rank]; }
  const PlacedStep& Get(StepId id) const { return steps_[id.rank][id.at]; }

  // "rank 2, chunk step 5 (wait step 4)".
  std::string Describe(StepId id) const;

 private:
  // What makes two ranks' steps each other's counterpart.
  struct Key {
    bool is_flag;
    int from;
    int to;
    int number;
    bool receives;
    StepId id;

    auto Pair() const { return std::tie(is_flag, from, to, number); }
  };

  Programs() = default;
  void Place(int rank);
  void PlaceSection(int rank, Section section, const std::vector<Step>& steps);
  void Match();
  void MatchGroup(const Key* keys, int count);

  std::vector<RankProgram> programs_;
  std::vector<std::vector<PlacedStep>> steps_;
};

// Whether the step only starts something that must be waited for.
inline bool IsTransfer(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kRecv ||
         kind == StepKind::kPut;
}

inline bool IsFlagWait(const Step& step) {
  return step.kind == StepKind::kWait && step.waits_for < 0;
}

}  // namespace rondo
