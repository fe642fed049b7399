// InProcessGroup: Bootstraps for threads of one process, without sockets.
//
// The same decisions as over TCP, because the same Membership takes them:
// all-gather, barrier, reports, deadlines that name absent ranks, goodbye. A
// rank can be killed, so that code above can be tested against a death.
//
// Thread-safety: all methods, from any thread. Ownership: the bootstraps keep
// the group alive; the group does not keep them. Failure: as JoinTcp.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto group, InProcessGroup::Create(2));
//   std::thread other([&] { Work(*group->Join(1)); });
//   RONDO_ASSIGN_OR_RETURN(auto bootstrap, group->Join(0));
#pragma once

#include <memory>

#include "transports/base/status.h"
#include "transports/bootstrap/bootstrap.h"

namespace rondo {

class InProcessGroup {
 public:
  static Result<std::shared_ptr<InProcessGroup>> Create(int world_size);
  ~InProcessGroup();
  InProcessGroup(const InProcessGroup&) = delete;
  InProcessGroup& operator=(const InProcessGroup&) = delete;

  // Each rank once.
  Result<std::unique_ptr<Bootstrap>> Join(int rank);
  // As if the rank's process had been killed. Others see it; it does as well.
  Status Kill(int rank);

 private:
  class Hub;
  explicit InProcessGroup(std::shared_ptr<Hub> hub);
  std::shared_ptr<Hub> hub_;
};

}  // namespace rondo
