// The payloads of the messages that follow the handshake.
//
// They are shared by the TCP and the in-process bootstrap. Decoding checks
// every length, refuses trailing bytes, and looks into the caller's payload.
//
// Thread-safety: values. Failure: Decode says which message is malformed.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto part, ContributeMessage::Decode(payload));
//   membership.Contribute(rank, part);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

// Longer texts are cut, with a mark.
constexpr size_t kMaxErrorTextBytes = 8 << 10;

enum class CallKind : uint8_t { kAllGather = 0, kBarrier = 1 };
std::string_view CallKindName(CallKind kind);

// kContribute: one rank's part of call number `call`.
struct ContributeMessage {
  uint64_t call = 0;
  CallKind kind = CallKind::kAllGather;
  std::string_view blob;

  std::string Encode() const;
  static Result<ContributeMessage> Decode(std::string_view payload);
};

// kGathered: the parts of ranks first_rank, first_rank + 1, ...
struct GatheredMessage {
  uint64_t call = 0;
  int first_rank = 0;
  std::vector<std::string_view> blobs;

  std::string Encode() const;
  static Result<GatheredMessage> Decode(std::string_view payload);
};

// kCallFailed, kAbsent (code and text), kAskAbsent (empty text).
struct CallMessage {
  uint64_t call = 0;
  Code code = Code::kTimeout;
  std::string_view text;

  std::string Encode() const;
  static Result<CallMessage> Decode(std::string_view payload);
};

// kReport, kFailure and kRefused: an error that is never ok; its text says whom
// it is about.
struct ErrorMessage {
  Status error;

  std::string Encode() const;
  static Result<ErrorMessage> Decode(std::string_view payload);
};

// kOwner.
std::string EncodeRank(int rank);
Result<int> DecodeRank(std::string_view payload);

}  // namespace rondo
