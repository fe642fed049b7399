#include "plugin/net/greeting.h"

#include <cstring>

namespace rondo::plugin {
namespace {

// The last two digits are the version of what the two sides say to each other.
constexpr uint64_t kMagic = 0x726f'6e64'6f6e'0001;

struct Head {
  uint64_t magic;
  uint64_t nonce;
};

}  // namespace

std::string Greeting::Encode() const {
  const Head head{kMagic, nonce};
  return std::string(reinterpret_cast<const char*>(&head), sizeof(head)) +
         worker_address;
}

Result<Greeting> Greeting::Decode(const std::string& bytes) {
  Head head{};
  if (bytes.size() > sizeof(head)) {
    std::memcpy(&head, bytes.data(), sizeof(head));
  }
  if (head.magic != kMagic) {
    return Status(Code::kTransport,
                  "a greeting of " + std::to_string(bytes.size()) +
                      " bytes is not of this plugin, or of another version");
  }
  Greeting greeting;
  greeting.nonce = head.nonce;
  greeting.worker_address = bytes.substr(sizeof(head));
  return greeting;
}

}  // namespace rondo::plugin
