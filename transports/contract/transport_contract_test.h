// The suite that every Transport must pass, whatever carries its bytes.
//
// A test of one implementation depends on this target and instantiates the
// suite with ways to make a group: N unconnected transports in this process,
// one per rank. Most tests drive all ranks from one thread; some give each rank
// its own.
//
// Example:
//   INSTANTIATE_TEST_SUITE_P(
//       InProcess, TransportContractTest,
//       ::testing::Values(ContractGroup{"two_ranks", 2, 1, MakeInProcess}),
//       ContractGroupName);
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/contract/transport.h"

namespace rondo {

using TransportGroup = std::vector<std::unique_ptr<Transport>>;

struct ContractGroup {
  std::string name;
  int ranks;
  int lanes;
  std::function<Result<TransportGroup>(int ranks, int lanes)> make;
};

std::string ContractGroupName(
    const ::testing::TestParamInfo<ContractGroup>& info);
// What a failing test prints for its parameter.
void PrintTo(const ContractGroup& group, std::ostream* stream);

class TransportContractTest : public ::testing::TestWithParam<ContractGroup> {
 protected:
  using Buffer = std::vector<unsigned char>;

  void SetUp() override;
  // Ends whatever a failed assertion left in flight.
  void TearDown() override;

  // An unconnected group, and the addresses of its ranks.
  static TransportGroup MakeGroup();
  static std::vector<std::string> AddressesOf(const TransportGroup& group);

  int ranks() const { return GetParam().ranks; }
  int lanes() const { return GetParam().lanes; }
  Transport& at(int rank) { return *group_[rank]; }

  // Transfers and buffers outlive the transports, also when a test fails.
  Transfer* NewTransfer() { return &transfers_.emplace_back(); }
  Buffer& NewBuffer(size_t bytes) { return buffers_.emplace_back(bytes); }
  // A buffer whose content depends on `seed`.
  Buffer& NewPattern(size_t bytes, unsigned seed);
  static Buffer Pattern(size_t bytes, unsigned seed);

  Transfer* Send(int from, int to, int lane, uint64_t tag,
                 const Buffer& buffer);
  Transfer* Receive(int at_rank, int from, int lane, uint64_t tag,
                    Buffer& buffer);

  // Drives all ranks until every transfer of this test is done.
  [[nodiscard]] bool AwaitAll();
  [[nodiscard]] bool AwaitUntil(const std::function<bool()>& satisfied);
  // Drives all ranks for a while, with nothing in particular to wait for.
  void DriveFor(int duration_ms);

  TransportGroup& group() { return group_; }

 private:
  // Declared first, so destroyed last.
  std::deque<Transfer> transfers_;
  std::deque<Buffer> buffers_;
  TransportGroup group_;
};

}  // namespace rondo
