// SharedMemoryFolder: a folder under /dev/shm in which the ranks of one job
// make their segments, so that a test sees all that they leave there and
// nothing of other jobs.
//
// Thread-safety: one thread. Ownership: the destructor removes the folder with
// all that is in it. Failure: a path of "" where it cannot be made.
//
// Example:
//   SharedMemoryFolder folder;
//   group.Start(arguments, {{"UCX_POSIX_DIR", folder.path()}});
//   EXPECT_THAT(folder.Entries(), IsEmpty());
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace rondo::testing {

class SharedMemoryFolder {
 public:
  SharedMemoryFolder() {
    std::string pattern = "/dev/shm/ranks-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~SharedMemoryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  SharedMemoryFolder(const SharedMemoryFolder&) = delete;
  SharedMemoryFolder& operator=(const SharedMemoryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::vector<std::string> Entries() const {
    std::vector<std::string> entries;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(path_, error)) {
      entries.push_back(entry.path());
    }
    if (error) entries.push_back(path_ + ": " + error.message());
    return entries;
  }

 private:
  std::string path_;
};

}  // namespace rondo::testing
