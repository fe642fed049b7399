// ShapeCache: the shapes of one communicator, made and proved once, and which
// of them serves a call.
//
// Thread-safety: one thread at a time. Ownership: of the shapes, which stay
// where they are. Failure: kInternal when the verifier refuses a shape,
// kNotSupported when the algorithm that RONDO_ALGO asks for does not fit.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(CallPlan plan, cache.PlanFor(arguments));
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/algorithms/algorithms.h"
#include "collectives/engine/binding.h"
#include "collectives/engine/prepared_shape.h"
#include "collectives/plan/plan.h"
#include "collectives/planner/host_choice.h"
#include "transports/base/status.h"

namespace rondo {

// What the shapes of a communicator depend on; equal on all ranks but for
// `rank`.
struct ShapeChoice {
  int rank = 0;
  std::vector<int> host_of_rank;
  int rails = 1;
  std::string algorithm;  // RONDO_ALGO
  // Every rank may read every other's memory: those of one host, where the
  // system permits it.
  bool can_read = false;
  // Data should really cross the transport: someone tests it.
  bool prefer_transport = false;
};

class ShapeCache {
 public:
  explicit ShapeCache(ShapeChoice choice);

  Result<CallPlan> PlanFor(const CallArguments& arguments);

  // Returns what it was. `algorithm` as RONDO_ALGO accepts it.
  std::string SetAlgorithm(const std::string& algorithm);
  void UseCosts(const HostCosts& costs);
  const HostCosts& costs() const { return costs_; }
  // Whether all-gather and reduce-scatter run inside the host by choice.
  bool ChoosesOnHost() const;
  // What the choice depends on, but for where the buffers will lie.
  HostQuestion QuestionOf(const CallArguments& arguments) const;
  // The way that it leads to, inside the host, for memory of one kind.
  Result<HostWay> WayFor(const CallArguments& arguments, bool mapped);

 private:
  // The ways to do one collective.
  enum class Way : uint8_t { kRing, kDirect, kPush, kStaged };

  Result<CallPlan> MakePlan(const CallArguments& arguments);
  Result<CallPlan> PlanOnHost(const CallArguments& arguments);
  Result<CallPlan> PlanUpdateOnHost(const CallArguments& arguments);
  // Whether all-gather and reduce-scatter run inside this host, as the user
  // wants it.
  Result<bool> OnHost() const;
  Status RefuseAlgorithm(const std::string& why) const;
  Result<const PreparedShape*> Get(Collective collective, int root, Way way);
  Result<Shape> Make(Collective collective, int root, Way way) const;
  Result<PreparedShape> Prepare(Shape shape) const;

  ShapeChoice choice_;
  HostCosts costs_ = TypicalHostCosts();
  RankOrder order_;  // the ranks of a host stand together
  bool one_host_ = false;
  std::map<std::tuple<Collective, int, Way>,
           std::unique_ptr<const PreparedShape>>
      shapes_;
  // The last answer: programs repeat themselves.
  struct Question {
    Collective collective = Collective::kBarrier;
    int root = -1;
    size_t largest_block_bytes = 0;
    friend bool operator==(const Question&, const Question&) = default;
  };
  Question last_question_;
  CallPlan last_plan_;
};

}  // namespace rondo
