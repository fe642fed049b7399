#include "collectives/plan/random_execution.h"

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "fmt/format.h"

namespace rondo {
namespace {

// Arithmetic wraps, so any number of contributions can be summed exactly.
using Number = uint64_t;

// What dividing by the number of ranks does to a sum; any odd number serves.
constexpr Number kAverage = 0x9e3779b97f4a7c15;

// Depends on whose state it is and on how often that was used before.
Number Updated(Number sum, int rank, int times) {
  const Number state = static_cast<Number>(rank) * 1000003 + times;
  Number mixed = (sum ^ (state * 0xff51afd7ed558ccd)) * kAverage;
  return mixed ^ (mixed >> 29);
}

struct Transfer {
  const Step* from = nullptr;  // send or put, once posted
  const Step* to = nullptr;    // recv or the same put, once posted
  std::vector<Number> data;
  bool was_read = false;
  bool landed = false;
};

class Execution {
 public:
  Execution(const Shape& shape, Placement placement, Sends sends, uint64_t seed)
      : shape_(shape),
        in_place_(placement == Placement::kInPlace),
        sends_(sends),
        random_(seed),
        ranks_(shape.ranks) {
    for (int rank = 0; rank < shape.ranks; ++rank) Load(rank);
  }

  std::string Run() {
    // Some runs favour some ranks, or let transfers dawdle or hurry.
    std::vector<double> weights(shape_.ranks + 1);
    for (double& weight : weights) weight = 1 << random_() % 7;
    std::discrete_distribution<int> pick(weights.begin(), weights.end());
    int idle = 0;
    while (problem_.empty() && finished_ < shape_.ranks) {
      const int actor = pick(random_);
      const bool moved =
          actor == shape_.ranks ? MoveOneTransfer() : Advance(actor);
      idle = moved ? 0 : idle + 1;
      if (idle > 50 && !AnythingMoves()) return "deadlock";
    }
    return problem_;
  }

 private:
  using Place = std::tuple<int, Space, int>;  // owner, space, index

  struct Rank {
    std::vector<Step> steps;
    std::vector<int> section_start;  // by step
    size_t next = 0;
    bool started = false;
    bool finished = false;
    bool has_read = false;  // the local step at `next` has read its sources
    std::vector<Number> results;
    std::map<int, Transfer*> transfers;  // by step
    int updates = 0;
  };

  void Load(int rank) {
    const RankProgram program = shape_.ForRank(rank);
    Rank& state = ranks_[rank];
    for (const auto* section :
         {&program.prologue, &program.chunk, &program.epilogue}) {
      const int start = static_cast<int>(state.steps.size());
      state.section_start.resize(start + section->size(), start);
      state.steps.insert(state.steps.end(), section->begin(), section->end());
    }
    for (int i = 0; i < program.scratch_blocks; ++i) {
      memory_[{rank, Space::kScratch, i}] = random_();
    }
    for (Space space : {Space::kOutput, Space::kInput}) {
      const BlockSpan span = BlocksOf(shape_, space, rank);
      for (int i = span.first; i < span.first + span.count; ++i) {
        memory_[PlaceOf({space, rank, i})] = random_();
        if (space == Space::kInput) {
          input_[{rank, i}] = memory_[PlaceOf({space, rank, i})];
        }
      }
    }
  }

  Place PlaceOf(const BlockRef& block) const {
    const bool own = shape_.collective == Collective::kBroadcast
                         ? block.owner == shape_.root
                         : block.index == block.owner;
    const bool shared = in_place_ && own && block.space == Space::kInput;
    return {block.owner, shared ? Space::kOutput : block.space, block.index};
  }

  // The block's memory; records a problem when it must not be touched now.
  Number& At(int rank, const BlockRef& block) {
    const auto found = memory_.find(PlaceOf(block));
    if (found == memory_.end()) {
      problem_ = fmt::format("rank {} touches what does not exist", rank);
      return nowhere_;
    }
    const Rank& owner = ranks_[block.owner];
    if (block.owner != rank && (!owner.started || owner.finished)) {
      problem_ = fmt::format("rank {} touches rank {} outside of its call",
                             rank, block.owner);
    }
    return found->second;
  }

  void Spoil(int rank, const BlockRef& blocks) {
    for (int k = 0; k < blocks.count; ++k) At(rank, blocks.At(k)) = random_();
  }

  // One move of one rank; false when it cannot move now.
  bool Advance(int rank) {
    Rank& state = ranks_[rank];
    if (state.finished) return false;
    if (!state.started) return state.started = true;
    if (state.next < state.steps.size() &&
        !HasOperands(state.steps[state.next])) {
      problem_ = "a step lacks an operand";
      return true;
    }
    if (state.next == state.steps.size()) {
      Finish(rank);
      return true;
    }
    const Step& step = state.steps[state.next];
    switch (step.kind) {
      case StepKind::kSend:
        Post(rank, &messages_[{rank, step.peer, step.message}], &step, nullptr);
        break;
      case StepKind::kRecv:
        Spoil(rank, step.destinations[0]);
        Post(rank, &messages_[{step.peer, rank, step.message}], nullptr, &step);
        break;
      case StepKind::kPut:
        Spoil(rank, step.destinations[0]);
        Post(rank, &puts_[{rank, static_cast<int>(state.next)}], &step, &step);
        break;
      case StepKind::kSignal:
        flags_[{rank, step.peer, step.flag}] = true;
        break;
      case StepKind::kWait:
        if (!IsOver(rank, step)) return false;
        break;
      default:
        return AdvanceLocal(rank, step);
    }
    ++state.next;
    return true;
  }

  static bool HasOperands(const Step& step) {
    if (step.kind == StepKind::kSignal || step.kind == StepKind::kWait) {
      return true;
    }
    if (step.kind == StepKind::kUpdate) {
      return !step.sources.empty() || !step.destinations.empty();
    }
    return (step.kind == StepKind::kRecv || !step.sources.empty()) &&
           (step.kind == StepKind::kSend || !step.destinations.empty());
  }

  void Post(int rank, Transfer* transfer, const Step* from, const Step* to) {
    Rank& state = ranks_[rank];
    if (from != nullptr) transfer->from = from;
    if (to != nullptr) transfer->to = to;
    state.transfers[static_cast<int>(state.next)] = transfer;
  }

  bool IsOver(int rank, const Step& wait) {
    if (wait.waits_for < 0) return flags_[{wait.peer, rank, wait.flag}];
    const Rank& state = ranks_[rank];
    const int started = state.section_start[state.next] + wait.waits_for;
    const auto found = state.transfers.find(started);
    if (found == state.transfers.end()) {
      problem_ = "a wait is for what is no transfer";
      return true;
    }
    const Transfer& transfer = *found->second;
    const bool eager =
        sends_ == Sends::kEager && state.steps[started].kind == StepKind::kSend;
    return eager ? transfer.was_read : transfer.landed;
  }

  // Reads in one move and writes in the next.
  bool AdvanceLocal(int rank, const Step& step) {
    Rank& state = ranks_[rank];
    const int count = BlocksThrough(step).count;
    if (!state.has_read) {
      state.results.assign(count, 0);
      for (int k = 0; k < count; ++k) state.results[k] = Compute(rank, step, k);
      return state.has_read = true;
    }
    for (const BlockRef& destination : step.destinations) {
      for (int k = 0; k < count; ++k) {
        const bool nothing_to_do =
            step.kind == StepKind::kCopy &&
            PlaceOf(destination.At(k)) == PlaceOf(step.sources[0].At(k));
        if (!nothing_to_do) At(rank, destination.At(k)) = state.results[k];
      }
    }
    state.has_read = false;
    ++state.next;
    return true;
  }

  Number Compute(int rank, const Step& step, int k) {
    Number sum = 0;
    for (const BlockRef& source : step.sources) sum += At(rank, source.At(k));
    if (step.kind == StepKind::kUpdate) {
      return Updated(sum, rank, ranks_[rank].updates++);
    }
    const bool averages =
        step.completes_sum && shape_.collective == Collective::kReduceScatter;
    return averages ? sum * kAverage : sum;
  }

  // One move of one transfer, chosen at random.
  bool MoveOneTransfer() {
    std::vector<Transfer*> all;
    for (auto& [key, transfer] : messages_) all.push_back(&transfer);
    for (auto& [key, transfer] : puts_) all.push_back(&transfer);
    if (all.empty()) return false;
    return Move(all[random_() % all.size()]);
  }

  bool Move(Transfer* transfer) {
    const bool both = transfer->from != nullptr && transfer->to != nullptr;
    const bool may_read =
        transfer->from != nullptr && (both || sends_ == Sends::kEager);
    if (!transfer->was_read && may_read) {
      const BlockRef& source = transfer->from->sources[0];
      for (int k = 0; k < source.count; ++k) {
        transfer->data.push_back(At(source.owner, source.At(k)));
      }
      return transfer->was_read = true;
    }
    if (transfer->landed || !transfer->was_read || !both) return false;
    const BlockRef& destination = transfer->to->destinations[0];
    if (destination.count != static_cast<int>(transfer->data.size())) {
      problem_ = "a transfer is of another length than its destination";
      return true;
    }
    // A put lands in a peer's space, whose owner must still be in its call.
    const int writer = transfer->to->kind == StepKind::kPut
                           ? transfer->from->sources[0].owner
                           : destination.owner;
    for (int k = 0; k < destination.count; ++k) {
      At(writer, destination.At(k)) = transfer->data[k];
    }
    return transfer->landed = true;
  }

  bool AnythingMoves() {
    for (int rank = 0; rank < shape_.ranks; ++rank) {
      if (Advance(rank)) return true;
    }
    for (auto& [key, transfer] : messages_) {
      if (Move(&transfer)) return true;
    }
    for (auto& [key, transfer] : puts_) {
      if (Move(&transfer)) return true;
    }
    return false;
  }

  Number Expected(int index) const {
    if (shape_.collective == Collective::kAllGather) {
      return input_.at({index, index});
    }
    if (shape_.collective == Collective::kBroadcast) {
      return input_.at({shape_.root, 0});
    }
    Number sum = 0;
    // What an update_gather gathers was kept by the functor.
    const bool has_input = shape_.collective != Collective::kUpdateGather;
    for (int from = 0; has_input && from < shape_.ranks; ++from) {
      sum += input_.at({from, index});
    }
    const bool step = HasUpdate(shape_.collective);
    return step ? Updated(sum, /*rank=*/index, /*times=*/0) : sum * kAverage;
  }

  // The rank's memory must be right, and nobody else's business, from here on.
  void Finish(int rank) {
    ranks_[rank].finished = true;
    ++finished_;
    for (const auto& [step, transfer] : ranks_[rank].transfers) {
      if (!transfer->was_read) problem_ = "a rank left before its transfers";
    }
    const BlockSpan output = BlocksOf(shape_, Space::kOutput, rank);
    for (int i = output.first; i < output.first + output.count; ++i) {
      if (memory_[PlaceOf({Space::kOutput, rank, i})] != Expected(i)) {
        problem_ = fmt::format("output[{}] of rank {} is wrong", i, rank);
      }
    }
    const BlockSpan input = BlocksOf(shape_, Space::kInput, rank);
    for (int i = input.first; i < input.first + input.count; ++i) {
      const Place place = PlaceOf({Space::kInput, rank, i});
      if (std::get<Space>(place) == Space::kOutput) continue;
      if (memory_[place] != input_[{rank, i}]) {
        problem_ = fmt::format("input[{}] of rank {} was changed", i, rank);
      }
    }
    if (HasUpdate(shape_.collective) && ranks_[rank].updates != 1) {
      problem_ =
          fmt::format("rank {} updated {} times", rank, ranks_[rank].updates);
    }
    if (shape_.collective != Collective::kBarrier) return;
    for (const Rank& other : ranks_) {
      if (!other.started) problem_ = "left the barrier before all arrived";
    }
  }

  const Shape& shape_;
  const bool in_place_;
  const Sends sends_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::map<Place, Number> memory_;
  std::map<std::pair<int, int>, Number> input_;  // rank, index
  std::map<std::tuple<int, int, int>, Transfer> messages_;
  std::map<std::pair<int, int>, Transfer> puts_;
  std::map<std::tuple<int, int, int>, bool> flags_;
  int finished_ = 0;
  std::string problem_;
  Number nowhere_ = 0;
};

}  // namespace

std::string ExecuteAtRandom(const Shape& shape, Placement placement,
                            Sends sends, uint64_t seed) {
  return Execution(shape, placement, sends, seed).Run();
}

}  // namespace rondo
