#include "perf/cli/report_error.h"

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

TEST(ReportErrorTest, RefusalsAreUsageErrorsAndTheRestFailures) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(ReportError(InvalidArgument("a value")), kExitUsage);
  EXPECT_EQ(ReportError(InvalidUsage("a call")), kExitUsage);
  EXPECT_EQ(ReportError(Status(Code::kTimeout, "late")), kExitFailed);
  EXPECT_EQ(ReportError(Internal("a defect")), kExitFailed);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "rondo: a value\nrondo: a call\nrondo: late\nrondo: a defect\n");
}

}  // namespace
}  // namespace rondo::perf
