#include "collectives/engine/shape_cache.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "collectives/engine/call_header.h"
#include "collectives/engine/staged_move.h"
#include "collectives/engine/tag.h"
#include "collectives/plan/verifier.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// Above this many ranks the proof would take longer than a user waits; the
// algorithms are the same pure functions of the rank count, proved by tests.
constexpr int kMaxRanksProvedAtStart = 64;

bool AnyOfOthers(const std::vector<BlockRef>& blocks, int rank) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [rank](const BlockRef& b) { return b.owner != rank; });
}

void AddPeers(const std::vector<Step>& steps, int rank, std::set<int>* send_to,
              std::set<int>* receive_from, PreparedShape* prepared) {
  for (const Step& step : steps) {
    if (step.kind == StepKind::kSend || step.kind == StepKind::kSignal) {
      send_to->insert(step.peer);
    }
    const bool waits_for_flag =
        step.kind == StepKind::kWait && step.waits_for < 0;
    if (step.kind == StepKind::kRecv || waits_for_flag) {
      receive_from->insert(step.peer);
    }
    prepared->reads_peers |= AnyOfOthers(step.sources, rank);
    if (AnyOfOthers(step.destinations, rank)) {
      (step.kind == StepKind::kPut ? prepared->puts_to_peers
                                   : prepared->stores_to_peers) = true;
    }
  }
}

// What may go with the header at most, in bytes that a rank copies in: before
// the headers are there nobody knows whether the memory is mapped, and mapped
// memory gains nothing from more.
constexpr size_t kWithHeaderBytes = 16 << 10;

// What is measured at the start are the quickest calls. Those through the slots
// vary more, as ranks wait for each other in every piece, so that several
// pieces must look much cheaper before they are (measured: 18 us where 10 were
// predicted).
constexpr double kPiecesMargin = 2;

bool IsPlainCollective(Collective collective) {
  return collective == Collective::kAllGather ||
         collective == Collective::kReduceScatter;
}

}  // namespace

ShapeCache::ShapeCache(ShapeChoice choice) : choice_(std::move(choice)) {
  const std::vector<int>& hosts = choice_.host_of_rank;
  order_.at.resize(hosts.size());
  std::iota(order_.at.begin(), order_.at.end(), 0);
  std::stable_sort(order_.at.begin(), order_.at.end(),
                   [&](int a, int b) { return hosts[a] < hosts[b]; });
  one_host_ = std::count(hosts.begin(), hosts.end(), hosts[0]) ==
              static_cast<int>(hosts.size());
}

Result<PreparedShape> ShapeCache::Prepare(Shape shape) const {
  if (shape.ranks <= kMaxRanksProvedAtStart) {
    Status proof = VerifyShape(shape).status();
    if (!proof.ok()) return Internal(proof.message());
  }
  PreparedShape prepared;
  prepared.program = shape.ForRank(choice_.rank);
  const int position = order_.PositionOf(choice_.rank);
  std::set<int> send_to = {
      order_.at[(position + 1) % shape.ranks],
      order_.at[(position + shape.ranks - 1) % shape.ranks]};
  std::set<int> receive_from = send_to;
  const RankProgram& program = prepared.program;
  for (const auto* steps :
       {&program.prologue, &program.chunk, &program.epilogue}) {
    AddPeers(*steps, choice_.rank, &send_to, &receive_from, &prepared);
    for (const Step& step : *steps) {
      prepared.uses_transport |= step.kind == StepKind::kSend ||
                                 step.kind == StepKind::kRecv || !one_host_;
      if (step.message >= kMaxMessages) {
        return Status(
            Code::kNotSupported,
            fmt::format("{} with {} ranks needs more than {} messages "
                        "between two ranks",
                        shape.algorithm, shape.ranks, kMaxMessages));
      }
    }
  }
  // Ranks of this host read the control segment.
  const auto keep_remote = [this](const std::set<int>& ranks,
                                  std::vector<int>* remote) {
    const std::vector<int>& hosts = choice_.host_of_rank;
    std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(*remote),
                 [&](int r) { return hosts[r] != hosts[choice_.rank]; });
  };
  keep_remote(send_to, &prepared.send_to);
  keep_remote(receive_from, &prepared.receive_from);
  prepared.algorithm_hash = static_cast<uint32_t>(
      HashBytes(shape.algorithm.data(), shape.algorithm.size()));
  prepared.shape = std::move(shape);
  return prepared;
}

Result<Shape> ShapeCache::Make(Collective collective, int root, Way way) const {
  const int ranks = order_.ranks();
  switch (collective) {
    case Collective::kBroadcast:
      return ChainBroadcast(order_, root);
    case Collective::kBarrier:
      return DisseminationBarrier(ranks);
    case Collective::kShardedStep:
      if (way == Way::kRing) return RingShardedStep(order_);
      return way == Way::kPush ? DirectShardedStepPush(ranks)
                               : DirectShardedStep(ranks);
    case Collective::kReduceUpdate:
      return way == Way::kRing ? RingReduceUpdate(order_)
                               : DirectReduceUpdate(ranks);
    case Collective::kUpdateGather:
      if (way == Way::kRing) return RingUpdateGather(order_);
      return way == Way::kPush ? DirectUpdateGatherPush(ranks)
                               : DirectUpdateGather(ranks);
    case Collective::kAllGather:
      if (way == Way::kRing) return RingAllGather(order_);
      if (way == Way::kPush) return DirectAllGatherPush(ranks);
      break;
    case Collective::kReduceScatter:
      if (way == Way::kRing) return RingReduceScatter(order_);
      break;
  }
  Shape shape = collective == Collective::kAllGather
                    ? DirectAllGather(ranks)
                    : DirectReduceScatter(ranks);
  // The same plan; a peer's input is reached through the slots.
  if (way == Way::kStaged) shape.algorithm = "staged";
  return shape;
}

Result<const PreparedShape*> ShapeCache::Get(Collective collective, int root,
                                             Way way) {
  auto& entry = shapes_[{collective, root, way}];
  if (entry == nullptr) {
    RONDO_ASSIGN_OR_RETURN(Shape shape, Make(collective, root, way));
    shape.rails = choice_.rails;
    RONDO_ASSIGN_OR_RETURN(PreparedShape prepared, Prepare(std::move(shape)));
    entry = std::make_unique<const PreparedShape>(std::move(prepared));
  }
  return entry.get();
}

std::string ShapeCache::SetAlgorithm(const std::string& algorithm) {
  last_question_ = Question();
  return std::exchange(choice_.algorithm, algorithm);
}

void ShapeCache::UseCosts(const HostCosts& costs) {
  last_question_ = Question();
  costs_ = costs;
}

bool ShapeCache::ChoosesOnHost() const {
  return choice_.algorithm == "auto" && order_.ranks() > 1 && OnHost().ok() &&
         *OnHost();
}

HostQuestion ShapeCache::QuestionOf(const CallArguments& arguments) const {
  HostQuestion question;
  question.moved_bytes = arguments.counts.largest() *
                         ElementSize(arguments.input_type) *
                         (order_.ranks() - 1);
  question.can_read = choice_.can_read;
  question.staging_fits = StagedMove::Fits(order_.ranks());
  return question;
}

Result<HostWay> ShapeCache::WayFor(const CallArguments& arguments,
                                   bool mapped) {
  RONDO_ASSIGN_OR_RETURN(const CallPlan plan, PlanFor(arguments));
  if (plan.with_header) return HostWay::kStaged;
  if (mapped) return HostWay::kMapped;
  const bool staged = plan.stage == Stage::kUnlessMapped || !choice_.can_read;
  return staged ? HostWay::kStaged : HostWay::kRead;
}

Status ShapeCache::RefuseAlgorithm(const std::string& why) const {
  return Status(Code::kNotSupported,
                fmt::format("RONDO_ALGO={} {}; accepted here: auto, ring",
                            choice_.algorithm, why));
}

Result<bool> ShapeCache::OnHost() const {
  const bool fits = one_host_ && StagedMove::Fits(order_.ranks());
  if (choice_.algorithm == "ring") return false;
  if (choice_.algorithm == "auto") return fits && !choice_.prefer_transport;
  if (!one_host_) {
    return RefuseAlgorithm("needs ranks that share the memory of one host");
  }
  if (!fits && choice_.algorithm == "staged") {
    return RefuseAlgorithm(
        fmt::format("has no room for {} ranks on a host", order_.ranks()));
  }
  return true;
}

Result<CallPlan> ShapeCache::PlanOnHost(const CallArguments& arguments) {
  const Collective collective = arguments.collective;
  const bool automatic = choice_.algorithm == "auto";
  const bool staged = choice_.algorithm == "staged";
  const size_t block_bytes =
      arguments.counts.largest() * ElementSize(arguments.input_type);
  const bool reduces = collective == Collective::kReduceScatter;
  const size_t copied_bytes = block_bytes * (reduces ? order_.ranks() - 1 : 1);
  const bool cheaper = PrefersStaging(costs_, QuestionOf(arguments));
  const bool fits = StagedMove::FitsOnePiece(arguments, order_.ranks()) &&
                    (staged || copied_bytes <= kWithHeaderBytes);
  CallPlan plan;
  plan.with_header = fits && (staged || (automatic && cheaper));
  RONDO_ASSIGN_OR_RETURN(
      plan.shape,
      Get(collective, 0,
          staged || plan.with_header ? Way::kStaged : Way::kDirect));
  if (staged) {
    plan.stage = Stage::kAlways;
    return plan;
  }
  const bool much_cheaper =
      PrefersStaging(costs_, QuestionOf(arguments), kPiecesMargin);
  plan.stage = !automatic     ? Stage::kNever
               : much_cheaper ? Stage::kUnlessMapped
                              : Stage::kIfNeeded;
  if (collective == Collective::kAllGather && !plan.with_header) {
    RONDO_ASSIGN_OR_RETURN(plan.push, Get(collective, 0, Way::kPush));
  }
  return plan;
}

Result<CallPlan> ShapeCache::PlanFor(const CallArguments& arguments) {
  const Question question{
      arguments.collective, arguments.root,
      arguments.counts.largest() * ElementSize(arguments.input_type)};
  if (question != last_question_) {
    RONDO_ASSIGN_OR_RETURN(last_plan_, MakePlan(arguments));
    last_question_ = question;
  }
  return last_plan_;
}

// The functor stores into all outputs where they are mapped; else peers put
// what it stored. Where even that cannot be, a ring over the transport does,
// unless the user asked for direct.
Result<CallPlan> ShapeCache::PlanUpdateOnHost(const CallArguments& arguments) {
  const Collective collective = arguments.collective;
  CallPlan plan;
  RONDO_ASSIGN_OR_RETURN(plan.shape, Get(collective, 0, Way::kDirect));
  if (collective != Collective::kReduceUpdate) {
    RONDO_ASSIGN_OR_RETURN(plan.push, Get(collective, 0, Way::kPush));
  }
  if (choice_.algorithm == "auto") {
    RONDO_ASSIGN_OR_RETURN(plan.fallback, Get(collective, 0, Way::kRing));
  }
  return plan;
}

Result<CallPlan> ShapeCache::MakePlan(const CallArguments& arguments) {
  const Collective collective = arguments.collective;
  if (IsPlainCollective(collective) || HasUpdate(collective)) {
    RONDO_ASSIGN_OR_RETURN(const bool on_host, OnHost());
    if (on_host && HasUpdate(collective) && choice_.algorithm == "staged") {
      return RefuseAlgorithm("moves all-gathers and reduce-scatters only");
    }
    if (on_host) {
      return HasUpdate(collective) ? PlanUpdateOnHost(arguments)
                                   : PlanOnHost(arguments);
    }
  }
  const int root = collective == Collective::kBroadcast ? arguments.root : 0;
  CallPlan plan;
  RONDO_ASSIGN_OR_RETURN(plan.shape, Get(collective, root, Way::kRing));
  // On one host all have arrived when all headers are here.
  plan.with_header = collective == Collective::kBarrier && one_host_ &&
                     choice_.algorithm != "ring";
  return plan;
}

}  // namespace rondo
