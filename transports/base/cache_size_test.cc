#include "transports/base/cache_size.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace rondo {
namespace {

class CacheSizeTest : public testing::Test {
 protected:
  void Add(int index, const std::string& type, const std::string& size) {
    const std::string cache = directory_ + "/index" + std::to_string(index);
    std::filesystem::create_directories(cache);
    std::ofstream(cache + "/type") << type << "\n";
    std::ofstream(cache + "/size") << size << "\n";
  }

  const std::string directory_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(CacheSizeTest, TheLargestDataCacheCounts) {
  Add(0, "Data", "32K");
  Add(1, "Instruction", "64M");
  Add(2, "Unified", "512K");
  Add(3, "Unified", "32768K");
  EXPECT_EQ(LastCacheBytes(directory_), size_t{32} << 20);
}

TEST_F(CacheSizeTest, UnitsAreKibibytesMebibytesOrBytes) {
  Add(0, "Unified", "2M");
  EXPECT_EQ(LastCacheBytes(directory_), size_t{2} << 20);
  Add(1, "Unified", "4194304");
  EXPECT_EQ(LastCacheBytes(directory_), size_t{4} << 20);
}

TEST_F(CacheSizeTest, NothingReadableGivesACommonSize) {
  EXPECT_EQ(LastCacheBytes("/none"), size_t{8} << 20);
  Add(0, "Unified", "large");
  EXPECT_EQ(LastCacheBytes(directory_), size_t{8} << 20);
}

}  // namespace
}  // namespace rondo
