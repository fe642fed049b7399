// Tags: how the messages of a communicator are told apart.
//
// A transport matches (source, lane, tag), and equal triples keep their order.
// A tag names the call, the chunk and the message within the chunk's program;
// the call and the chunk wrap around, which is safe because of that order: what
// a wrapped tag could be mistaken for was sent earlier and is received earlier.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

namespace rondo {

enum class TagKind : uint64_t { kPayload = 0, kHeader = 1, kFlag = 2 };

inline constexpr int kTagMessageBits = 16;
inline constexpr int kTagChunkBits = 12;
inline constexpr int kTagSequenceBits = 10;
// Transports promise 40 bits.
static_assert(kTagMessageBits + kTagChunkBits + kTagSequenceBits + 2 == 40);

// Messages that one chunk's program may have between two ranks.
inline constexpr int kMaxMessages = 1 << kTagMessageBits;
// Chunk indices that may be in flight at a time.
inline constexpr int kMaxWindowChunks = 1 << (kTagChunkBits - 1);

constexpr uint64_t MakeTag(TagKind kind, uint64_t sequence, uint64_t chunk,
                           uint64_t message) {
  constexpr auto kLow = [](uint64_t value, int bits) {
    return value & ((uint64_t{1} << bits) - 1);
  };
  uint64_t tag = static_cast<uint64_t>(kind);
  tag = tag << kTagSequenceBits | kLow(sequence, kTagSequenceBits);
  tag = tag << kTagChunkBits | kLow(chunk, kTagChunkBits);
  return tag << kTagMessageBits | kLow(message, kTagMessageBits);
}

constexpr bool IsPayload(uint64_t tag) {
  return tag >> (kTagMessageBits + kTagChunkBits + kTagSequenceBits) ==
         static_cast<uint64_t>(TagKind::kPayload);
}

}  // namespace rondo
