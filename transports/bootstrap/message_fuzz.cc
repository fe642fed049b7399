// libFuzzer's entry for everything that parses bytes from outside: frames,
// handshake and control payloads, unique ids.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transports/bootstrap/control_message.h"
#include "transports/bootstrap/handshake.h"
#include "transports/bootstrap/message.h"
#include "transports/bootstrap/unique_id.h"

namespace rondo {
namespace {

// Results do not matter here, only that none of these misbehaves.
template <typename T>
void Ignore(const Result<T>&) {}

void DecodeAll(std::string_view payload) {
  Ignore(Hello::Decode(payload));
  Ignore(Challenge::Decode(payload));
  Ignore(Accepted::Decode(payload));
  Ignore(ContributeMessage::Decode(payload));
  Ignore(GatheredMessage::Decode(payload));
  Ignore(CallMessage::Decode(payload));
  Ignore(ErrorMessage::Decode(payload));
  Ignore(DecodeRank(payload));
  Ignore(UniqueId::Parse(payload));
  Ignore(UniqueId::FromHex(payload));
}

void ParseStream(std::string_view bytes, bool sealed) {
  while (true) {
    const auto frame = ParseFrame(bytes, sealed);
    if (!frame.ok() || !*frame) return;
    // A frame that claims more than there is would be read out of bounds.
    if ((*frame)->frame_bytes > bytes.size()) __builtin_trap();
    DecodeAll((*frame)->payload);
    bytes.remove_prefix((*frame)->frame_bytes);
  }
}

void OpenStream(std::string_view bytes) {
  FrameOpener opener;
  if (!opener.Secure(Digest{}).ok()) return;
  const auto frame = opener.Open(bytes);
  // Only somebody who can compute the tag gets here, and a fuzzer cannot.
  if (frame.ok() && *frame) __builtin_trap();
}

}  // namespace
}  // namespace rondo

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  rondo::ParseStream(bytes, false);
  rondo::ParseStream(bytes, true);
  rondo::OpenStream(bytes);
  rondo::DecodeAll(bytes);
  return 0;
}
