#include "transports/bootstrap/control_message.h"

#include "transports/bootstrap/bootstrap.h"
#include "transports/bootstrap/wire.h"

namespace rondo {

namespace {

Status Malformed(const char* what) {
  return Status(Code::kTransport,
                std::string("a ") + what + " message is malformed");
}

std::string Shorten(std::string_view text) {
  constexpr std::string_view kMark = "... (cut)";
  if (text.size() <= kMaxErrorTextBytes) return std::string(text);
  return std::string(text.substr(0, kMaxErrorTextBytes - kMark.size())) +
         std::string(kMark);
}

bool IsErrorCode(uint32_t code) {
  return code > static_cast<uint32_t>(Code::kOk) &&
         code <= static_cast<uint32_t>(Code::kInternal);
}

}  // namespace

std::string_view CallKindName(CallKind kind) {
  return kind == CallKind::kBarrier ? "barrier" : "all-gather";
}

std::string ContributeMessage::Encode() const {
  ByteWriter writer;
  writer.U64(call);
  writer.U8(static_cast<uint8_t>(kind));
  writer.Raw(blob);
  return writer.Take();
}

Result<ContributeMessage> ContributeMessage::Decode(std::string_view payload) {
  ByteReader reader(payload);
  ContributeMessage out;
  out.call = reader.U64();
  const uint8_t kind = reader.U8();
  out.kind = static_cast<CallKind>(kind);
  out.blob = reader.Rest();
  if (!reader.complete() || kind > 1 ||
      out.blob.size() > Bootstrap::kMaxBlobBytes) {
    return Malformed("contribute");
  }
  return out;
}

std::string GatheredMessage::Encode() const {
  ByteWriter writer;
  writer.U64(call);
  writer.U32(static_cast<uint32_t>(first_rank));
  writer.U32(static_cast<uint32_t>(blobs.size()));
  for (std::string_view blob : blobs) writer.Text(blob);
  return writer.Take();
}

Result<GatheredMessage> GatheredMessage::Decode(std::string_view payload) {
  ByteReader reader(payload);
  GatheredMessage out;
  out.call = reader.U64();
  const uint32_t first_rank = reader.U32();
  const uint32_t count = reader.U32();
  // Every blob takes at least its length's four bytes: no allocation is larger
  // than the message that asks for it.
  if (!reader.ok() || count > payload.size() / 4 || first_rank > INT32_MAX) {
    return Malformed("gathered");
  }
  out.first_rank = static_cast<int>(first_rank);
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    out.blobs.push_back(reader.Text(Bootstrap::kMaxBlobBytes));
  }
  if (!reader.complete()) return Malformed("gathered");
  return out;
}

std::string CallMessage::Encode() const {
  ByteWriter writer;
  writer.U64(call);
  writer.U32(static_cast<uint32_t>(code));
  writer.Raw(Shorten(text));
  return writer.Take();
}

Result<CallMessage> CallMessage::Decode(std::string_view payload) {
  ByteReader reader(payload);
  CallMessage out;
  out.call = reader.U64();
  const uint32_t code = reader.U32();
  out.code = static_cast<Code>(code);
  out.text = reader.Rest();
  if (!reader.complete() || !IsErrorCode(code) ||
      out.text.size() > kMaxErrorTextBytes) {
    return Malformed("call");
  }
  return out;
}

std::string ErrorMessage::Encode() const {
  ByteWriter writer;
  writer.U32(static_cast<uint32_t>(error.code()));
  writer.Raw(Shorten(error.message()));
  return writer.Take();
}

Result<ErrorMessage> ErrorMessage::Decode(std::string_view payload) {
  ByteReader reader(payload);
  const uint32_t code = reader.U32();
  const std::string_view text = reader.Rest();
  if (!reader.complete() || !IsErrorCode(code) ||
      text.size() > kMaxErrorTextBytes) {
    return Malformed("error");
  }
  return ErrorMessage{Status(static_cast<Code>(code), std::string(text))};
}

std::string EncodeRank(int rank) {
  ByteWriter writer;
  writer.U32(static_cast<uint32_t>(rank));
  return writer.Take();
}

Result<int> DecodeRank(std::string_view payload) {
  ByteReader reader(payload);
  const uint32_t rank = reader.U32();
  if (!reader.complete() || rank > INT32_MAX) return Malformed("rank");
  return static_cast<int>(rank);
}

}  // namespace rondo
