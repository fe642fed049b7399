#include "transports/bootstrap/inprocess_bootstrap.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transports/bootstrap/control_message.h"
#include "transports/bootstrap/membership.h"
#include "transports/bootstrap/rank_endpoint.h"

namespace rondo {

// The membership, and who is to be told. Its lock is taken before a member's.
class InProcessGroup::Hub {
 public:
  class Member;
  explicit Hub(int world_size)
      : membership_(world_size), members_(world_size, nullptr) {}

  int world_size() const { return membership_.world_size(); }
  Status Enter(int rank, Member* member);
  // Nothing when `member` never entered.
  void Leave(int rank, const Member* member);
  Status Kill(int rank);
  // A member's message, as the coordinator would get it.
  Status Receive(int rank, MessageType type, std::string_view payload);

 private:
  void Deliver();

  std::mutex mutex_;
  Membership membership_;
  std::vector<Member*> members_;
};

class InProcessGroup::Hub::Member : public RankEndpoint {
 public:
  Member(int rank, std::shared_ptr<Hub> hub)
      : RankEndpoint(rank, hub->world_size()), hub_(std::move(hub)) {}
  ~Member() override { hub_->Leave(rank(), this); }

  void Deliver(MessageType type, std::string_view payload) {
    const Status handled = OnMessage(type, payload);
    if (!handled.ok()) Fail(handled);
  }

 protected:
  void Send(MessageType type, std::string payload) override {
    const Status handled = hub_->Receive(rank(), type, payload);
    if (!handled.ok()) Fail(handled);
  }

 private:
  const std::shared_ptr<Hub> hub_;
};

Status InProcessGroup::Hub::Enter(int rank, Member* member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RONDO_RETURN_IF_ERROR(membership_.Join(rank));
  members_[rank] = member;
  Deliver();
  return Status::Ok();
}

void InProcessGroup::Hub::Leave(int rank, const Member* member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (rank < 0 || rank >= world_size() || members_[rank] != member) return;
  members_[rank] = nullptr;
  membership_.Leave(rank);
  Deliver();
}

Status InProcessGroup::Hub::Kill(int rank) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (rank < 0 || rank >= world_size() || members_[rank] == nullptr) {
    return InvalidArgument("rank " + std::to_string(rank) +
                           " is not in this group, so it cannot be killed");
  }
  membership_.Die(rank, "it was killed");
  Deliver();
  return Status::Ok();
}

Status InProcessGroup::Hub::Receive(int rank, MessageType type,
                                    std::string_view payload) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (type == MessageType::kContribute) {
    RONDO_ASSIGN_OR_RETURN(auto part, ContributeMessage::Decode(payload));
    membership_.Contribute(rank, part);
  } else if (type == MessageType::kAskAbsent) {
    RONDO_ASSIGN_OR_RETURN(auto question, CallMessage::Decode(payload));
    membership_.AskAbsent(rank, question.call);
  } else if (type == MessageType::kReport) {
    RONDO_ASSIGN_OR_RETURN(auto report, ErrorMessage::Decode(payload));
    membership_.Report(rank, report.error);
  }
  Deliver();
  return Status::Ok();
}

void InProcessGroup::Hub::Deliver() {
  for (const Membership::Outgoing& out : membership_.TakeOutgoing()) {
    Member* const member = members_[out.rank];
    if (member != nullptr) member->Deliver(out.type, *out.payload);
  }
}

InProcessGroup::InProcessGroup(std::shared_ptr<Hub> hub)
    : hub_(std::move(hub)) {}

InProcessGroup::~InProcessGroup() = default;

Result<std::shared_ptr<InProcessGroup>> InProcessGroup::Create(int world_size) {
  constexpr int kMaxThreads = 1 << 16;
  if (world_size < 1 || world_size > kMaxThreads) {
    return InvalidArgument("world size " + std::to_string(world_size) +
                           " is not in 1 to " + std::to_string(kMaxThreads));
  }
  return std::shared_ptr<InProcessGroup>(
      new InProcessGroup(std::make_shared<Hub>(world_size)));
}

Result<std::unique_ptr<Bootstrap>> InProcessGroup::Join(int rank) {
  auto member = std::make_unique<Hub::Member>(rank, hub_);
  RONDO_RETURN_IF_ERROR(hub_->Enter(rank, member.get()));
  return std::unique_ptr<Bootstrap>(std::move(member));
}

Status InProcessGroup::Kill(int rank) { return hub_->Kill(rank); }

}  // namespace rondo
