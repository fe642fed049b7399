#include "perf/cli/progress_line.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <string>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

// Makes stderr a terminal while it lives, and reads what was written there.
class TerminalStderr {
 public:
  TerminalStderr() : controller_(posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_EQ(grantpt(controller_), 0);
    EXPECT_EQ(unlockpt(controller_), 0);
    const int terminal = open(ptsname(controller_), O_RDWR | O_NOCTTY);
    EXPECT_GE(terminal, 0);
    saved_ = dup(STDERR_FILENO);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
  }
  ~TerminalStderr() { Restore(); }

  // What was written; stderr is as before afterwards.
  std::string Restore() {
    if (saved_ < 0) return "";
    std::string text;
    std::array<char, 256> buffer;
    pollfd ready = {controller_, POLLIN, 0};
    while (poll(&ready, 1, /*timeout_ms=*/200) > 0) {
      const ssize_t size = read(controller_, buffer.data(), buffer.size());
      if (size <= 0) break;
      text.append(buffer.data(), static_cast<size_t>(size));
    }
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    close(controller_);
    saved_ = -1;
    return text;
  }

 private:
  int controller_;
  int saved_ = -1;
};

// A container or chroot may have no /dev/pts.
bool HasPseudoTerminals() {
  const int controller = posix_openpt(O_RDWR | O_NOCTTY);
  if (controller >= 0) close(controller);
  return controller >= 0;
}

TEST(ProgressLineTest, OverwritesItselfOnATerminal) {
  if (!HasPseudoTerminals()) GTEST_SKIP() << "no pseudo-terminals here";
  TerminalStderr terminal;
  {
    ProgressLine progress(/*wanted=*/true);
    progress.Show("first");
    progress.Show("second");
  }
  EXPECT_EQ(terminal.Restore(),
            "\r\x1b[Kfirst"
            "\r\x1b[Ksecond"
            "\r\x1b[K");
}

TEST(ProgressLineTest, IsSilentWhereNobodyWatches) {
  testing::internal::CaptureStderr();  // a file from here on
  {
    ProgressLine progress(/*wanted=*/true);
    progress.Show("text");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressLineTest, IsSilentWhenNotWanted) {
  if (!HasPseudoTerminals()) GTEST_SKIP() << "no pseudo-terminals here";
  TerminalStderr terminal;
  {
    ProgressLine progress(/*wanted=*/false);
    progress.Show("text");
  }
  EXPECT_EQ(terminal.Restore(), "");
}

}  // namespace
}  // namespace rondo::perf
