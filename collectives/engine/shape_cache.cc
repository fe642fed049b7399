#include "collectives/engine/shape_cache.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "collectives/engine/tag.h"
#include "collectives/plan/verifier.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// Above this many ranks the proof would take longer than a user waits; the
// algorithms are the same pure functions of the rank count, proved by tests.
constexpr int kMaxRanksProvedAtStart = 64;

void AddPeers(const std::vector<Step>& steps, int rank, std::set<int>* send_to,
              std::set<int>* receive_from, bool* touches_peers) {
  for (const Step& step : steps) {
    if (step.kind == StepKind::kSend || step.kind == StepKind::kSignal) {
      send_to->insert(step.peer);
    }
    const bool waits_for_flag =
        step.kind == StepKind::kWait && step.waits_for < 0;
    if (step.kind == StepKind::kRecv || waits_for_flag) {
      receive_from->insert(step.peer);
    }
    for (const auto& blocks : {step.sources, step.destinations}) {
      for (const BlockRef& block : blocks) {
        *touches_peers = *touches_peers || block.owner != rank;
      }
    }
  }
}

Result<PreparedShape> Prepare(Shape shape, const RankOrder& order, int rank) {
  if (shape.ranks <= kMaxRanksProvedAtStart) {
    Status proof = VerifyShape(shape).status();
    if (!proof.ok()) return Internal(proof.message());
  }
  PreparedShape prepared;
  prepared.program = shape.ForRank(rank);
  const int position = order.PositionOf(rank);
  std::set<int> send_to = {
      order.at[(position + 1) % shape.ranks],
      order.at[(position + shape.ranks - 1) % shape.ranks]};
  std::set<int> receive_from = send_to;
  const RankProgram& program = prepared.program;
  for (const auto* steps :
       {&program.prologue, &program.chunk, &program.epilogue}) {
    AddPeers(*steps, rank, &send_to, &receive_from, &prepared.touches_peers);
    for (const Step& step : *steps) {
      if (step.message >= kMaxMessages) {
        return Status(
            Code::kNotSupported,
            fmt::format("{} with {} ranks needs more than {} messages "
                        "between two ranks",
                        shape.algorithm, shape.ranks, kMaxMessages));
      }
    }
  }
  prepared.send_to.assign(send_to.begin(), send_to.end());
  prepared.receive_from.assign(receive_from.begin(), receive_from.end());
  prepared.shape = std::move(shape);
  return prepared;
}

}  // namespace

ShapeCache::ShapeCache(ShapeChoice choice) : choice_(std::move(choice)) {
  const std::vector<int>& hosts = choice_.host_of_rank;
  order_.at.resize(hosts.size());
  std::iota(order_.at.begin(), order_.at.end(), 0);
  std::stable_sort(order_.at.begin(), order_.at.end(),
                   [&](int a, int b) { return hosts[a] < hosts[b]; });
}

Result<Shape> ShapeCache::MakeDirect(Collective collective) const {
  if (!choice_.all_reach_all) {
    return Status(
        Code::kNotSupported,
        "RONDO_ALGO=direct needs ranks that can all read each other's "
        "memory: those of one host, with the right to use "
        "process_vm_readv; accepted here: auto, ring");
  }
  switch (collective) {
    case Collective::kAllGather:
      return DirectAllGather(order_.ranks());
    case Collective::kReduceScatter:
      return DirectReduceScatter(order_.ranks());
    default:
      return DirectShardedStep(order_.ranks());
  }
}

Result<Shape> ShapeCache::Make(Collective collective, int root) const {
  // These have one algorithm each.
  if (collective == Collective::kBroadcast) return ChainBroadcast(order_, root);
  if (collective == Collective::kBarrier) {
    return DisseminationBarrier(order_.ranks());
  }
  if (choice_.algorithm == "direct") return MakeDirect(collective);
  switch (collective) {
    case Collective::kAllGather:
      return RingAllGather(order_);
    case Collective::kReduceScatter:
      return RingReduceScatter(order_);
    default:
      return RingShardedStep(order_);
  }
}

Result<std::shared_ptr<const PreparedShape>> ShapeCache::Get(
    Collective collective, int root) {
  auto& entry = shapes_[{collective, root}];
  if (entry == nullptr) {
    RONDO_ASSIGN_OR_RETURN(Shape shape, Make(collective, root));
    shape.rails = choice_.rails;
    RONDO_ASSIGN_OR_RETURN(PreparedShape prepared,
                           Prepare(std::move(shape), order_, choice_.rank));
    entry = std::make_shared<const PreparedShape>(std::move(prepared));
  }
  return entry;
}

}  // namespace rondo
