// What CreateUcxTransport makes of its options and of the environment.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transports/base/clock.h"
#include "transports/ucx/ucx_transport.h"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Describe(const UcxOptions& options) {
  auto transport = CreateUcxTransport(options);
  return transport.ok() ? (*transport)->Describe()
                        : transport.status().ToString();
}

TEST(UcxOptionsTest, DescriptionNamesVersionLanesAndTransports) {
  UcxOptions options;
  options.devices = {"lo", "lo"};
  options.transports = "tcp,posix";
  EXPECT_THAT(Describe(options), AllOf(HasSubstr("ucx " + UcxVersion()),
                                       HasSubstr("lane 0: lo (posix, tcp)"),
                                       HasSubstr("lane 1: lo (posix, tcp)")));
}

TEST(UcxOptionsTest, UnknownDeviceIsRefusedAndTheKnownOnesAreNamed) {
  UcxOptions options;
  options.devices = {"lo", "no-such-device"};
  auto transport = CreateUcxTransport(options);
  EXPECT_EQ(transport.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(transport.status().message(),
              AllOf(HasSubstr("lane 1"), HasSubstr("\"no-such-device\""),
                    HasSubstr("tcp/lo")));
}

TEST(UcxOptionsTest, MoreThanOneDevicePerLaneIsRefused) {
  for (const char* device : {"", "lo,eth0"}) {
    UcxOptions options;
    options.devices = {device};
    EXPECT_EQ(CreateUcxTransport(options).status().code(),
              Code::kInvalidArgument);
  }
  UcxOptions options;
  options.devices.assign(kMaxUcxLanes + 1, "lo");
  EXPECT_THAT(CreateUcxTransport(options).status().message(),
              HasSubstr("at most 16"));
}

TEST(UcxOptionsTest, TransportsThatDoNotExistAreRefused) {
  UcxOptions options;
  options.transports = "nonsense";
  EXPECT_FALSE(CreateUcxTransport(options).ok());
}

TEST(UcxOptionsTest, NetworkOnlyLeavesSharedMemoryOut) {
  UcxOptions options;
  options.network_only = true;
  EXPECT_THAT(Describe(options),
              AllOf(HasSubstr("tcp"), Not(HasSubstr("sysv")),
                    Not(HasSubstr("posix")), Not(HasSubstr("cma"))));
}

TEST(UcxOptionsTest, TheEnvironmentChoosesTransportsUnlessTheOptionDoes) {
  ASSERT_EQ(setenv("UCX_TLS", "tcp", 1), 0);
  UcxOptions options;
  EXPECT_THAT(Describe(options), Not(HasSubstr("sysv")));
  options.transports = "sysv";
  EXPECT_THAT(Describe(options),
              AllOf(HasSubstr("sysv"), Not(HasSubstr("tcp"))));
  ASSERT_EQ(unsetenv("UCX_TLS"), 0);
}

TEST(UcxOptionsTest, WithoutRoomPosixIsLeftOutWithAWarning) {
  std::vector<std::string> warnings;
  UcxOptions options;
  options.shared_memory_bytes_per_lane = uint64_t{1} << 60;
  options.on_warning = [&](const std::string& text) {
    warnings.push_back(text);
  };
  EXPECT_THAT(Describe(options),
              AllOf(HasSubstr("sysv"), HasSubstr("POSIX shared memory is not "
                                                 "used")));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("/dev/shm has"));
  options.transports = "posix";
  auto nothing_left = CreateUcxTransport(options);
  EXPECT_EQ(nothing_left.status().code(), Code::kResourceExhausted);
  EXPECT_THAT(nothing_left.status().message(), HasSubstr("/dev/shm has"));
}

TEST(UcxOptionsTest, EnoughRoomGivesNoWarning) {
  UcxOptions options;
  options.shared_memory_bytes_per_lane = 1;
  options.on_warning = [](const std::string& text) { FAIL() << text; };
  EXPECT_THAT(Describe(options), HasSubstr("posix"));
}

TEST(UcxOptionsTest, ConnectNamesBothNumbersOfLanes) {
  UcxOptions one, two;
  one.transports = two.transports = "tcp";
  two.devices = {"lo", "lo"};
  auto first = *CreateUcxTransport(one);
  auto second = *CreateUcxTransport(two);
  Status status = first->Connect(0, {*first->Address(), *second->Address()});
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("rank 1"), HasSubstr("2 lanes"),
                                      HasSubstr("this rank 1")));
}

TEST(UcxOptionsTest, AForkedChildIsRefusedAndTheParentGoesOn) {
  auto first = *CreateUcxTransport(UcxOptions());
  auto second = *CreateUcxTransport(UcxOptions());
  const std::vector<std::string> addresses = {*first->Address(),
                                              *second->Address()};
  ASSERT_TRUE(first->Connect(0, addresses).ok());
  ASSERT_TRUE(second->Connect(1, addresses).ok());
  char byte = 0, received = 0;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Transfer send;
    first->Send(1, 0, 1, {&byte, 1}, &send);
    const bool refused =
        send.status().code() == Code::kInvalidUsage &&
        first->Address().status().code() == Code::kInvalidUsage &&
        first->Progress() == 0;
    first.reset();
    second.reset();
    _exit(refused ? 0 : 1);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  Transfer in, out;
  second->Receive(0, 0, 1, {&received, 1}, &in);
  first->Send(1, 0, 1, {&byte, 1}, &out);
  const Deadline deadline = Deadline::AfterMs(10000);
  while (!in.done() && !deadline.expired()) {
    first->Progress();
    second->Progress();
  }
  ASSERT_TRUE(in.done());
  EXPECT_TRUE(in.status().ok()) << in.status().ToString();
}

}  // namespace
}  // namespace rondo
