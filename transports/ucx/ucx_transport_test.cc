#include "transports/ucx/ucx_transport.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transports/contract/transport_contract_test.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

// One lane on everything, or several on the loopback interface, which every
// machine has.
UcxOptions OptionsFor(int lanes, const std::string& transports) {
  UcxOptions options;
  options.transports = transports;
  if (lanes > 1) options.devices.assign(lanes, "lo");
  return options;
}

ContractGroup Group(const std::string& name, int ranks, int lanes,
                    const std::string& transports) {
  return {name, ranks, lanes,
          [transports](int ranks, int lanes) -> Result<TransportGroup> {
            TransportGroup group;
            for (int rank = 0; rank < ranks; ++rank) {
              RONDO_ASSIGN_OR_RETURN(
                  auto transport,
                  CreateUcxTransport(OptionsFor(lanes, transports)));
              group.push_back(std::move(transport));
            }
            return group;
          }};
}

INSTANTIATE_TEST_SUITE_P(
    Ucx, TransportContractTest,
    ::testing::Values(Group("default_two_ranks", 2, 1, ""),
                      Group("default_three_ranks_two_lanes", 3, 2, ""),
                      Group("tcp_two_ranks_two_lanes", 2, 2, "tcp"),
                      Group("tcp_three_ranks", 3, 1, "tcp"),
                      Group("posix_three_ranks", 3, 1, "posix")),
    ContractGroupName);

}  // namespace
}  // namespace rondo
