#include "transports/bootstrap/message.h"

#include "transports/bootstrap/wire.h"

namespace rondo {

namespace {

Result<Digest> Tag(const HmacKey& key, std::string_view header,
                   std::string_view payload) {
  return key.Sign({header, payload});
}

Result<std::optional<HmacKey>> MakeKey(const Digest& key) {
  RONDO_ASSIGN_OR_RETURN(HmacKey made, HmacKey::Create(AsBytes(key)));
  return std::optional<HmacKey>(std::move(made));
}

}  // namespace

Result<std::optional<FrameView>> ParseFrame(std::string_view bytes,
                                            bool sealed) {
  if (bytes.size() < kFrameHeaderBytes) return std::optional<FrameView>();
  ByteReader reader(bytes);
  const size_t payload_bytes = reader.U32();
  const uint16_t type = reader.U16();
  const uint16_t reserved = reader.U16();
  FrameView frame;
  frame.sequence = reader.U64();
  if (type == 0 || type > kMaxMessageType || reserved != 0) {
    return Status(Code::kTransport, "not a bootstrap frame: type " +
                                        std::to_string(type) + ", reserved " +
                                        std::to_string(reserved));
  }
  frame.type = static_cast<MessageType>(type);
  const size_t limit = sealed ? kMaxSealedPayloadBytes : kMaxOpenPayloadBytes;
  if (payload_bytes > limit) {
    return Status(Code::kTransport,
                  "a frame of " + std::to_string(payload_bytes) +
                      " bytes is above the limit of " + std::to_string(limit));
  }
  // No overflow: the limit is far below SIZE_MAX.
  frame.frame_bytes =
      kFrameHeaderBytes + payload_bytes + (sealed ? kFrameTagBytes : 0);
  if (bytes.size() < frame.frame_bytes) return std::optional<FrameView>();
  frame.payload = reader.Raw(payload_bytes);
  if (sealed) frame.tag = reader.Raw(kFrameTagBytes);
  return std::optional<FrameView>(frame);
}

Status FrameSealer::Secure(const Digest& key) {
  RONDO_ASSIGN_OR_RETURN(key_, MakeKey(key));
  return Status::Ok();
}

Result<std::string> FrameSealer::Seal(MessageType type,
                                      std::string_view payload) {
  const size_t limit = key_ ? kMaxSealedPayloadBytes : kMaxOpenPayloadBytes;
  if (payload.size() > limit) {
    return Internal("a message of " + std::to_string(payload.size()) +
                    " bytes is above the limit of " + std::to_string(limit));
  }
  ByteWriter writer;
  writer.U32(static_cast<uint32_t>(payload.size()));
  writer.U16(static_cast<uint16_t>(type));
  writer.U16(0);
  writer.U64(next_sequence_++);
  std::string out = writer.Take();
  if (!key_) return out.append(payload);
  RONDO_ASSIGN_OR_RETURN(Digest tag, Tag(*key_, out, payload));
  out.append(payload);
  out.append(AsBytes(tag).substr(0, kFrameTagBytes));
  return out;
}

Status FrameOpener::Secure(const Digest& key) {
  RONDO_ASSIGN_OR_RETURN(key_, MakeKey(key));
  return Status::Ok();
}

Result<std::optional<FrameView>> FrameOpener::Open(std::string_view bytes) {
  RONDO_ASSIGN_OR_RETURN(std::optional<FrameView> frame,
                         ParseFrame(bytes, secured()));
  if (!frame) return frame;
  if (key_) {
    RONDO_ASSIGN_OR_RETURN(
        Digest tag,
        Tag(*key_, bytes.substr(0, kFrameHeaderBytes), frame->payload));
    if (!EqualInConstantTime(AsBytes(tag).substr(0, kFrameTagBytes),
                             frame->tag)) {
      return Status(Code::kTransport, "a frame's authentication tag is wrong");
    }
  }
  if (frame->sequence != next_sequence_) {
    return Status(Code::kTransport, "frame " + std::to_string(frame->sequence) +
                                        " arrived where frame " +
                                        std::to_string(next_sequence_) +
                                        " was due");
  }
  ++next_sequence_;
  return frame;
}

}  // namespace rondo
