#include "transports/ucx/ucx_address.h"

#include <ucp/api/ucp.h>

#include <cstdint>

namespace rondo {

namespace {

constexpr std::string_view kMagic = "RUCX";
constexpr uint64_t kFormat = 1;

void Append(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}

uint64_t Checksum(std::string_view bytes) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

// Reads from the front of a text; `ok` turns false when it is too short.
struct Reader {
  std::string_view rest;
  bool ok = true;

  std::string_view Bytes(size_t count) {
    if (count > rest.size()) ok = false;
    if (!ok) return {};
    std::string_view taken = rest.substr(0, count);
    rest.remove_prefix(count);
    return taken;
  }
  uint64_t Number(int bytes) {
    uint64_t value = 0;
    int shift = 0;
    for (unsigned char byte : Bytes(bytes)) {
      value |= uint64_t{byte} << shift;
      shift += 8;
    }
    return value;
  }
};

struct Release {
  unsigned major = 0, minor = 0, patch = 0;
  Release() { ucp_get_version(&major, &minor, &patch); }
};

std::string ReleaseText(uint64_t major, uint64_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

Status CheckPeers(uint64_t major, uint64_t minor, uint64_t lanes,
                  int lane_count) {
  const Release ours;
  if (major != ours.major || minor != ours.minor) {
    return Status(Code::kMismatch, "it runs UCX " + ReleaseText(major, minor) +
                                       ", this rank UCX " +
                                       ReleaseText(ours.major, ours.minor) +
                                       "; all ranks need the same release");
  }
  if (lanes != static_cast<uint64_t>(lane_count)) {
    return Status(Code::kMismatch, "it has " + std::to_string(lanes) +
                                       " lanes, this rank " +
                                       std::to_string(lane_count));
  }
  return Status::Ok();
}

}  // namespace

Result<std::string> PackUcxAddress(const std::vector<std::string>& lanes) {
  const Release release;
  std::string address(kMagic);
  Append(kFormat, 2, &address);
  Append(release.major, 2, &address);
  Append(release.minor, 2, &address);
  Append(lanes.size(), 2, &address);
  for (const std::string& lane : lanes) {
    Append(lane.size(), 4, &address);
    address += lane;
  }
  Append(Checksum(address), 8, &address);
  if (address.size() > kMaxUcxAddressBytes) {
    return Status(Code::kResourceExhausted,
                  "the UCX addresses of " + std::to_string(lanes.size()) +
                      " lanes take " + std::to_string(address.size()) +
                      " bytes; at most " + std::to_string(kMaxUcxAddressBytes) +
                      " are accepted: name fewer devices");
  }
  return address;
}

Result<std::vector<std::string>> UnpackUcxAddress(std::string_view address,
                                                  int lane_count) {
  if (address.size() < kMagic.size() + 8 ||
      address.size() > kMaxUcxAddressBytes ||
      address.substr(0, kMagic.size()) != kMagic) {
    return InvalidArgument("not an address of the UCX transport (" +
                           std::to_string(address.size()) + " bytes)");
  }
  Reader reader{address.substr(0, address.size() - 8)};
  Reader trailer{address.substr(address.size() - 8)};
  if (trailer.Number(8) != Checksum(reader.rest)) {
    return InvalidArgument("the address is damaged: its checksum is wrong");
  }
  reader.Bytes(kMagic.size());
  const uint64_t format = reader.Number(2);
  if (format != kFormat) {
    return Status(Code::kMismatch,
                  "its address has format " + std::to_string(format) +
                      ", this rank reads format " + std::to_string(kFormat));
  }
  const uint64_t major = reader.Number(2), minor = reader.Number(2);
  const uint64_t lanes = reader.Number(2);
  RONDO_RETURN_IF_ERROR(CheckPeers(major, minor, lanes, lane_count));
  std::vector<std::string> unpacked;
  for (uint64_t lane = 0; lane < lanes; ++lane) {
    unpacked.emplace_back(reader.Bytes(reader.Number(4)));
  }
  if (!reader.ok || !reader.rest.empty()) {
    return InvalidArgument("the address is damaged: its lengths do not fit");
  }
  return unpacked;
}

}  // namespace rondo
