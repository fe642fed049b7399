#include "perf/compare_mpi/machine.h"

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

TEST(MachineTest, TheCpuModelIsFoundInCpuInfo) {
  EXPECT_EQ(CpuModel("processor\t: 0\nmodel\t\t: 1\n"
                     "model name\t: Some CPU @ 3 GHz\nflags\t: a\n"
                     "model name\t: another\n"),
            "Some CPU @ 3 GHz");
  EXPECT_EQ(CpuModel("processor\t: 0\ncpu\t\t: POWER9\n"), "POWER9");
}

TEST(MachineTest, AnUnknownCpuIsSaidToBeUnknown) {
  EXPECT_EQ(CpuModel(""), "unknown CPU");
  EXPECT_EQ(CpuModel("model name\t:\nprocessor : 3"), "unknown CPU");
}

TEST(MachineTest, ThisMachineHasACore) { EXPECT_GE(OnlineCores(), 1); }

}  // namespace
}  // namespace rondo::perf
