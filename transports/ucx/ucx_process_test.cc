#include "transports/ucx/ucx_process.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "gtest/gtest.h"
#include "transports/ucx/ucx_transport.h"

namespace rondo {
namespace {

// Whether the handler of a signal is code of UCX. (A sanitizer has its own.)
bool HandledByUcx(int signal_number) {
  struct sigaction current {};
  sigaction(signal_number, nullptr, &current);
  Dl_info code{};
  return dladdr(reinterpret_cast<void*>(current.sa_handler), &code) != 0 &&
         std::strstr(code.dli_fname, "libucs") != nullptr;
}

TEST(UcxProcessTest, NoSignalHandlerOfUcxStaysInstalled) {
  ASSERT_TRUE(CreateUcxTransport(UcxOptions()).ok());
  for (int signal_number : {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGHUP}) {
    EXPECT_FALSE(HandledByUcx(signal_number)) << "signal " << signal_number;
  }
}

void OwnHandler(int) {}

TEST(UcxProcessTest, HandlersOfTheUserAreLeftAlone) {
  ASSERT_TRUE(CreateUcxTransport(UcxOptions()).ok());
  struct sigaction own {};
  own.sa_handler = OwnHandler;
  ASSERT_EQ(sigaction(SIGBUS, &own, nullptr), 0);
  RemoveUcxSignalHandlers();
  struct sigaction current {};
  ASSERT_EQ(sigaction(SIGBUS, nullptr, &current), 0);
  EXPECT_EQ(current.sa_handler, OwnHandler);
  ASSERT_EQ(signal(SIGBUS, SIG_DFL), OwnHandler);
}

TEST(UcxProcessTest, TheGenerationChangesInAForkedChildOnly) {
  const int here = ForkGeneration();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(ForkGeneration() != here ? 0 : 1);
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  EXPECT_EQ(ForkGeneration(), here);
}

TEST(UcxProcessTest, RoomIsMeasuredWhereUcxPutsItsSegments) {
  EXPECT_EQ(SharedMemoryDirectory(), "/dev/shm");
  ASSERT_EQ(setenv("UCX_POSIX_DIR", "/tmp", 1), 0);
  EXPECT_EQ(SharedMemoryDirectory(), "/tmp");
  ASSERT_EQ(unsetenv("UCX_POSIX_DIR"), 0);
  EXPECT_GT(AvailableBytes("/tmp"), 0u);
  EXPECT_LT(AvailableBytes("/tmp"), UINT64_MAX);
  EXPECT_EQ(AvailableBytes("/no such directory"), UINT64_MAX);
}

}  // namespace
}  // namespace rondo
