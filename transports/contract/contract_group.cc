#include <ostream>

#include "transports/contract/transport_contract_test.h"

namespace rondo {

namespace {
// Far beyond what any test needs, so that only a real hang meets it.
constexpr int kPatienceMs = 20000;
}  // namespace

std::string ContractGroupName(
    const ::testing::TestParamInfo<ContractGroup>& info) {
  return info.param.name;
}

void PrintTo(const ContractGroup& group, std::ostream* stream) {
  *stream << group.name << ": " << group.ranks << " ranks, " << group.lanes
          << " lanes";
}

TransportGroup TransportContractTest::MakeGroup() {
  Result<TransportGroup> made =
      GetParam().make(GetParam().ranks, GetParam().lanes);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *std::move(made) : TransportGroup();
}

std::vector<std::string> TransportContractTest::AddressesOf(
    const TransportGroup& group) {
  std::vector<std::string> addresses;
  for (const auto& transport : group) {
    Result<std::string> address = transport->Address();
    EXPECT_TRUE(address.ok()) << address.status().ToString();
    addresses.push_back(address.ok() ? *address : "");
  }
  return addresses;
}

void TransportContractTest::SetUp() {
  group_ = MakeGroup();
  ASSERT_EQ(static_cast<int>(group_.size()), ranks());
  const std::vector<std::string> addresses = AddressesOf(group_);
  for (int rank = 0; rank < ranks(); ++rank) {
    Status connected = at(rank).Connect(rank, addresses);
    ASSERT_TRUE(connected.ok()) << connected.ToString();
    ASSERT_EQ(at(rank).lane_count(), lanes());
  }
}

void TransportContractTest::TearDown() {
  const Status over(Code::kAborted, "the test is over");
  for (auto& transport : group_) {
    if (transport != nullptr) transport->FailAll(over);
  }
  for (const Transfer& transfer : transfers_) EXPECT_FALSE(transfer.active());
}

TransportContractTest::Buffer TransportContractTest::Pattern(size_t bytes,
                                                             unsigned seed) {
  Buffer pattern(bytes);
  unsigned value = seed * 2654435761u + 12345u;
  for (unsigned char& byte : pattern) {
    value = value * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>(value >> 24);
  }
  return pattern;
}

TransportContractTest::Buffer& TransportContractTest::NewPattern(
    size_t bytes, unsigned seed) {
  return buffers_.emplace_back(Pattern(bytes, seed));
}

Transfer* TransportContractTest::Send(int from, int to, int lane, uint64_t tag,
                                      const Buffer& buffer) {
  Transfer* transfer = NewTransfer();
  at(from).Send(to, lane, tag, {buffer.data(), buffer.size()}, transfer);
  return transfer;
}

Transfer* TransportContractTest::Receive(int at_rank, int from, int lane,
                                         uint64_t tag, Buffer& buffer) {
  Transfer* transfer = NewTransfer();
  at(at_rank).Receive(from, lane, tag, {buffer.data(), buffer.size()},
                      transfer);
  return transfer;
}

bool TransportContractTest::AwaitUntil(const std::function<bool()>& satisfied) {
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (!satisfied()) {
    if (deadline.expired()) return false;
    for (auto& transport : group_) {
      if (transport != nullptr) transport->Progress();
    }
  }
  return true;
}

bool TransportContractTest::AwaitAll() {
  return AwaitUntil([this] {
    for (const Transfer& transfer : transfers_) {
      if (transfer.active()) return false;
    }
    return true;
  });
}

void TransportContractTest::DriveFor(int duration_ms) {
  const Deadline deadline = Deadline::AfterMs(duration_ms);
  while (!deadline.expired()) {
    for (auto& transport : group_) transport->Progress();
  }
}

}  // namespace rondo
