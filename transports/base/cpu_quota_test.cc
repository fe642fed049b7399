#include "transports/base/cpu_quota.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

// A directory that looks like /proc/self beside one that looks like the mounted
// control groups.
class CpuQuotaTest : public testing::Test {
 protected:
  CpuQuotaTest() : root_(testing::TempDir() + "/cpu_quota") {
    fs::remove_all(root_);
    fs::create_directories(root_ + "/proc");
  }
  ~CpuQuotaTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const fs::path full = root_ + "/" + path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void UseVersion2(const std::string& group, const std::string& root = "/") {
    Write("proc/cgroup", "0::" + group + "\n");
    Write("proc/mountinfo", "24 1 0:21 / /proc rw - proc proc rw\n30 23 0:26 " +
                                root + " " + root_ +
                                "/groups rw,nosuid shared:4 - cgroup2 "
                                "cgroup2 rw,nsdelegate\n");
  }
  void UseVersion1(const std::string& group) {
    Write("proc/cgroup",
          "5:memory:/elsewhere\n3:cpuset:/other\n2:cpu,cpuacct:" + group +
              "\n0::/\n");
    Write("proc/mountinfo",
          "31 23 0:27 / " + root_ +
              "/set rw - cgroup cgroup rw,cpuset\n30 23 0:26 / " + root_ +
              "/groups rw - cgroup cgroup rw,cpu,cpuacct\n");
  }
  int Limit() const { return CgroupCpuLimit(root_ + "/proc"); }

  const std::string root_;
};

TEST_F(CpuQuotaTest, NothingToReadMeansNoLimit) { EXPECT_EQ(Limit(), 0); }

TEST_F(CpuQuotaTest, Version2QuotaIsRoundedUpToWholeCpus) {
  UseVersion2("/job");
  Write("groups/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(Limit(), 2);
  Write("groups/job/cpu.max", "200000 100000\n");
  EXPECT_EQ(Limit(), 2);
  Write("groups/job/cpu.max", "1000 100000\n");
  EXPECT_EQ(Limit(), 1);
}

TEST_F(CpuQuotaTest, MaxMeansNoLimit) {
  UseVersion2("/job");
  Write("groups/job/cpu.max", "max 100000\n");
  EXPECT_EQ(Limit(), 0);
}

TEST_F(CpuQuotaTest, TheTightestAncestorCounts) {
  UseVersion2("/pod/job");
  Write("groups/pod/job/cpu.max", "800000 100000\n");
  Write("groups/pod/cpu.max", "300000 100000\n");
  EXPECT_EQ(Limit(), 3);
}

TEST_F(CpuQuotaTest, ASiblingDoesNotCount) {
  UseVersion2("/pod/job");
  Write("groups/pod/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(Limit(), 0);
}

TEST_F(CpuQuotaTest, AContainerThatSeesOnlyItsOwnGroupIsUnderstood) {
  UseVersion2("/pod/job/step", /*root=*/"/pod/job");
  Write("groups/cpu.max", "400000 100000\n");
  EXPECT_EQ(Limit(), 4);
  Write("groups/step/cpu.max", "200000 100000\n");
  EXPECT_EQ(Limit(), 2);
}

TEST_F(CpuQuotaTest, Version1ReadsTheHierarchyOfTheCpuController) {
  UseVersion1("/job");
  Write("groups/job/cpu.cfs_quota_us", "250000\n");
  Write("groups/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Limit(), 3);
  Write("groups/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(Limit(), 0);
}

TEST_F(CpuQuotaTest, GarbageMeansNoLimit) {
  UseVersion2("/job");
  Write("groups/job/cpu.max", "many few\n");
  EXPECT_EQ(Limit(), 0);
  Write("groups/job/cpu.max", "100000 0\n");
  EXPECT_EQ(Limit(), 0);
  Write("proc/mountinfo", "- - -\n\n - cgroup2\n");
  Write("proc/cgroup", "::\nx\n");
  EXPECT_EQ(Limit(), 0);
}

}  // namespace
}  // namespace rondo
