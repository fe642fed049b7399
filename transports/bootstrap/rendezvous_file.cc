#include "transports/bootstrap/rendezvous_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "transports/bootstrap/crypto.h"
#include "transports/bootstrap/file_descriptor.h"

namespace rondo {

namespace {

std::string Octal(mode_t mode) {
  std::string out;
  for (int shift = 6; shift >= 0; shift -= 3) {
    out.push_back(static_cast<char>('0' + ((mode >> shift) & 7)));
  }
  return out;
}

// Belongs to this user, and to nobody else.
Status CheckPrivate(const std::string& path, const struct stat& facts) {
  if (facts.st_uid != geteuid()) {
    return InvalidArgument(path + " belongs to user " +
                           std::to_string(facts.st_uid) + ", not to user " +
                           std::to_string(geteuid()) + ", who runs this rank");
  }
  if ((facts.st_mode & 077) != 0) {
    return InvalidArgument(path + " has mode " + Octal(facts.st_mode & 0777) +
                           ", so others can reach it; accepted are 600 for a "
                           "file and 700 for a directory");
  }
  return Status::Ok();
}

Status WriteWhole(int fd, const std::string& content, const std::string& path) {
  size_t written = 0;
  while (written < content.size()) {
    const ssize_t bytes =
        write(fd, content.data() + written, content.size() - written);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return SystemError("write " + path, errno);
    written += static_cast<size_t>(bytes);
  }
  return Status::Ok();
}

Result<std::string> TemporaryName(const std::string& path) {
  std::array<uint8_t, 8> random;
  RONDO_RETURN_IF_ERROR(FillRandom(random.data(), random.size()));
  std::string out = path + ".";
  for (uint8_t byte : random) {
    out.push_back(static_cast<char>('a' + (byte & 15)));
    out.push_back(static_cast<char>('a' + (byte >> 4)));
  }
  return out;
}

}  // namespace

Status MakePrivateDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("mkdir " + path, errno);
  }
  struct stat facts;
  if (lstat(path.c_str(), &facts) != 0) return SystemError(path, errno);
  if (!S_ISDIR(facts.st_mode)) {
    return InvalidArgument(path + " is not a directory");
  }
  return CheckPrivate(path, facts);
}

Status PublishUniqueId(const std::string& path, const UniqueId& id) {
  RONDO_ASSIGN_OR_RETURN(const std::string temporary, TemporaryName(path));
  FileDescriptor file(open(temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           0600));
  if (!file.valid()) return SystemError("create " + temporary, errno);
  Status status = WriteWhole(file.get(), id.ToHex() + "\n", temporary);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError("rename to " + path, errno);
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

Result<std::string> ReadPrivateFile(const std::string& path, size_t max_bytes) {
  // Non-blocking: a pipe put in the file's place must not hold this rank up.
  FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return SystemError("open " + path, errno);
  struct stat facts;
  if (fstat(file.get(), &facts) != 0) return SystemError(path, errno);
  if (!S_ISREG(facts.st_mode)) return InvalidArgument(path + " is not a file");
  RONDO_RETURN_IF_ERROR(CheckPrivate(path, facts));
  std::string content(max_bytes + 1, '\0');
  size_t got = 0;
  while (got < content.size()) {
    const ssize_t bytes =
        read(file.get(), content.data() + got, content.size() - got);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return SystemError("read " + path, errno);
    if (bytes == 0) break;
    got += static_cast<size_t>(bytes);
  }
  if (got > max_bytes) {
    return InvalidArgument(path + " has more than " +
                           std::to_string(max_bytes) + " bytes");
  }
  content.resize(got);
  return content;
}

Result<UniqueId> ReadUniqueId(const std::string& path) {
  RONDO_ASSIGN_OR_RETURN(std::string text,
                         ReadPrivateFile(path, 2 * UniqueId::kBytes + 1));
  Result<UniqueId> id = UniqueId::FromHex(text);
  if (!id.ok()) return id.status().WithContext(path);
  return id;
}

void RemoveUniqueId(const std::string& path, const UniqueId& id) {
  const Result<UniqueId> current = ReadUniqueId(path);
  if (current.ok() && current->bytes() == id.bytes()) unlink(path.c_str());
}

}  // namespace rondo
