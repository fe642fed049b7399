#include "transports/bootstrap/unique_id.h"

#include <algorithm>

#include "transports/bootstrap/crypto.h"
#include "transports/bootstrap/interface.h"
#include "transports/bootstrap/wire.h"

namespace rondo {

namespace {

constexpr std::string_view kMagic = "RONDOUID";
constexpr uint16_t kVersion = 1;
constexpr size_t kPaddingBytes = 48;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kSecretOffset = 88;
constexpr size_t kCheckedBytes = UniqueId::kBytes - kChecksumBytes;
static_assert(kSecretOffset + UniqueId::kSecretBytes == kCheckedBytes);

// Finds a damaged copy; it keeps nobody out, the handshake does that.
Result<std::string> Checksum(std::string_view bytes) {
  RONDO_ASSIGN_OR_RETURN(Digest digest,
                         HmacSha256("rondo unique id checksum", {bytes}));
  return std::string(AsBytes(digest).substr(0, kChecksumBytes));
}

Result<std::string> Encode(const SocketAddress& address,
                           const UniqueId::Secret& secret) {
  ByteWriter writer;
  writer.Raw(kMagic);
  writer.U16(kVersion);
  writer.U16(static_cast<uint16_t>(address.family));
  writer.U16(address.port);
  writer.U16(0);
  writer.Raw(AsBytes(address.ip));
  writer.U32(address.scope_id);
  writer.U32(0);
  writer.Raw(std::string(kPaddingBytes, '\0'));
  writer.Raw(AsBytes(secret));
  std::string out = writer.Take();
  RONDO_ASSIGN_OR_RETURN(std::string checksum, Checksum(out));
  return out + checksum;
}

int HexValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

Result<UniqueId> UniqueId::Create(const SocketAddress& address) {
  Secret secret;
  RONDO_RETURN_IF_ERROR(FillRandom(secret.data(), secret.size()));
  return FromParts(address, secret);
}

Result<UniqueId> UniqueId::FromParts(const SocketAddress& address,
                                     const Secret& secret) {
  RONDO_ASSIGN_OR_RETURN(std::string bytes, Encode(address, secret));
  return Parse(bytes);
}

Result<UniqueId> UniqueId::Parse(std::string_view bytes) {
  if (bytes.size() != kBytes) {
    return InvalidArgument("a unique id has " + std::to_string(kBytes) +
                           " bytes, not " + std::to_string(bytes.size()));
  }
  ByteReader reader(bytes);
  if (reader.Raw(kMagic.size()) != kMagic) {
    return InvalidArgument("these 128 bytes are not a Rondo unique id");
  }
  const uint16_t version = reader.U16();
  if (version != kVersion) {
    return InvalidArgument("the unique id has version " +
                           std::to_string(version) + "; this library reads " +
                           std::to_string(kVersion));
  }
  RONDO_ASSIGN_OR_RETURN(std::string checksum,
                         Checksum(bytes.substr(0, kCheckedBytes)));
  if (!EqualInConstantTime(checksum, bytes.substr(kCheckedBytes))) {
    return InvalidArgument("the unique id is damaged: its checksum is wrong");
  }
  UniqueId id;
  std::copy(bytes.begin(), bytes.end(), id.bytes_.begin());
  const uint16_t family = reader.U16();
  if (family != 4 && family != 6) {
    return InvalidArgument("the unique id has address family " +
                           std::to_string(family) + ", not 4 or 6");
  }
  if (id.address().port == 0 || id.address().IsWildcard()) {
    return InvalidArgument("the unique id names no address to connect to: " +
                           id.address().ToString());
  }
  return id;
}

Result<UniqueId> UniqueId::FromHex(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.size() != 2 * kBytes) {
    return InvalidArgument("a unique id has " + std::to_string(2 * kBytes) +
                           " hexadecimal digits, not " +
                           std::to_string(text.size()));
  }
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) {
      return InvalidArgument(
          "the unique id has a character that is not one of "
          "0-9a-f near position " +
          std::to_string(i));
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return Parse(bytes);
}

std::string_view UniqueId::bytes() const { return AsBytes(bytes_); }

std::string UniqueId::ToHex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (uint8_t byte : bytes_) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

std::string UniqueId::ToString() const {
  return "UniqueId(" + address().ToString() + ")";
}

SocketAddress UniqueId::address() const {
  ByteReader reader(bytes());
  reader.Raw(kMagic.size() + 2);
  SocketAddress out;
  out.family = static_cast<SocketAddress::Family>(reader.U16());
  out.port = reader.U16();
  reader.U16();
  const std::string_view ip = reader.Raw(out.ip.size());
  std::copy(ip.begin(), ip.end(), out.ip.begin());
  out.scope_id = reader.U32();
  return out;
}

UniqueId::Secret UniqueId::secret() const {
  Secret out;
  std::copy_n(bytes_.begin() + kSecretOffset, out.size(), out.begin());
  return out;
}

Result<UniqueId> FixedUniqueId(const std::string& host, uint16_t port,
                               std::string_view secret_text,
                               std::string_view socket_ifname) {
  if (secret_text.empty()) {
    return InvalidArgument("the secret text for " + host + ":" +
                           std::to_string(port) + " is empty");
  }
  RONDO_ASSIGN_OR_RETURN(auto addresses, ResolveHost(host, port));
  SocketAddress address = addresses.front();
  const bool by_name = !ParseNumericAddress(host, port).ok();
  if (by_name && host != "localhost" && address.IsLoopback()) {
    RONDO_ASSIGN_OR_RETURN(auto interfaces, ListInterfaces());
    RONDO_ASSIGN_OR_RETURN(Interface chosen,
                           ChooseInterface(socket_ifname, interfaces));
    address = chosen.address;
    address.port = port;
  }
  RONDO_ASSIGN_OR_RETURN(
      Digest secret, HmacSha256(secret_text, {"rondo fixed unique id secret"}));
  return UniqueId::FromParts(address, secret);
}

}  // namespace rondo
