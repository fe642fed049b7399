#include "collectives/testing/world.h"

#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "transports/bootstrap/inprocess_bootstrap.h"
#include "transports/inprocess/inprocess_transport.h"

namespace rondo {
namespace {

Result<CommunicatorOptions> OptionsOf(const WorldOptions& world, int rank,
                                      InProcessGroup* group,
                                      InProcessNetwork* network) {
  CommunicatorOptions options;
  options.rank = rank;
  options.world_size = world.ranks;
  RONDO_ASSIGN_OR_RETURN(auto bootstrap, group->Join(rank));
  options.bootstrap = std::move(bootstrap);
  if (!world.over_ucx) {
    RONDO_ASSIGN_OR_RETURN(auto endpoint, network->Endpoint(rank));
    options.transport = std::move(endpoint);
  }
  for (const auto& [name, text] : world.settings) {
    RONDO_RETURN_IF_ERROR(options.parameters.Set(name, text, "test"));
  }
  if (!world.host_ids.empty()) {
    options.parameters.hostid = world.host_ids[rank];
  }
  if (world.adjust) world.adjust(rank, &options.parameters);
  return options;
}

}  // namespace

void RunWorld(const WorldOptions& world,
              const std::function<void(Communicator&)>& body) {
  auto group = InProcessGroup::Create(world.ranks);
  ASSERT_TRUE(group.ok()) << group.status().ToString();
  auto network = InProcessNetwork::Create(world.ranks, world.lanes);
  ASSERT_TRUE(network.ok()) << network.status().ToString();
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < world.ranks; ++rank) {
    threads.emplace_back([&, rank] {
      auto options = OptionsOf(world, rank, group->get(), network->get());
      ASSERT_TRUE(options.ok()) << options.status().ToString();
      auto comm = Communicator::Create(*std::move(options));
      ASSERT_TRUE(comm.ok())
          << "rank " << rank << ": " << comm.status().ToString();
      body(**comm);
    });
  }
}

}  // namespace rondo
