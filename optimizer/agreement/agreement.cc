#include "optimizer/agreement/agreement.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "fmt/format.h"

namespace rondo {
namespace {

constexpr size_t kMaxRanksNamed = 8;

uint64_t Mix(uint64_t hash, uint64_t word) {
  // One round of a multiply-and-fold mixer; the constants are the fractional
  // parts of the golden ratio and of the square root of 3.
  const uint64_t mixed = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return (mixed ^ (mixed >> 32)) + 0xbb67ae8584caa73bu;
}

// "rank 2", "ranks 2, 3 and 5".
std::string RankList(const std::vector<size_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const size_t named = std::min(ranks.size(), kMaxRanksNamed);
  for (size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == ranks.size();
    text += i == 0 ? "" : last ? " and " : ", ";
    text += fmt::format("{}", ranks[i]);
  }
  if (named < ranks.size()) {
    text += fmt::format(" and {} more", ranks.size() - named);
  }
  return text;
}

}  // namespace

void Agreement::AddInteger(std::string name, int64_t value) {
  fields_.push_back(
      {Kind::kInteger, std::move(name), std::bit_cast<uint64_t>(value)});
}

void Agreement::AddNumber(std::string name, double value) {
  fields_.push_back(
      {Kind::kNumber, std::move(name), std::bit_cast<uint64_t>(value)});
}

void Agreement::AddHash(std::string name, uint64_t hash) {
  fields_.push_back({Kind::kHash, std::move(name), hash});
}

void Agreement::Refuse(const Status& why) {
  if (refusal_.ok()) refusal_ = why;
}

Status Agreement::Check(Communicator* communicator) const {
  const std::vector<uint64_t> mine = Encoded();
  const size_t bytes = mine.size() * sizeof(uint64_t);
  const Result<std::vector<std::string>> blobs = communicator->Exchange(
      {reinterpret_cast<const char*>(mine.data()), bytes});
  // Why this rank cannot take part says more than that the others are gone.
  if (!refusal_.ok()) return refusal_;
  if (!blobs.ok()) {
    return blobs.status().WithContext("comparing " + subject_ +
                                      " across ranks");
  }
  std::vector<uint64_t> gathered(mine.size() * blobs->size());
  for (size_t rank = 0; rank < blobs->size(); ++rank) {
    if ((*blobs)[rank].size() != bytes) {
      return Status(
          Code::kMismatch,
          fmt::format("{}: rank {} compares something else", subject_, rank));
    }
    std::memcpy(gathered.data() + rank * mine.size(), (*blobs)[rank].data(),
                bytes);
  }
  return Compare(gathered);
}

std::vector<uint64_t> Agreement::Encoded() const {
  std::vector<uint64_t> encoded = {refusal_.ok() ? uint64_t{1} : 0};
  for (const Field& field : fields_) encoded.push_back(field.bits);
  return encoded;
}

Status Agreement::Compare(std::span<const uint64_t> gathered) const {
  const size_t stride = fields_.size() + 1;
  const size_t ranks = gathered.size() / stride;
  std::vector<size_t> refusing;
  for (size_t rank = 0; rank < ranks; ++rank) {
    if (gathered[rank * stride] == 0) refusing.push_back(rank);
  }
  if (!refusing.empty()) {
    return InvalidArgument(
        fmt::format("{}: refused on {}, where the error says why", subject_,
                    RankList(refusing)));
  }
  for (size_t field = 0; field < fields_.size(); ++field) {
    for (size_t rank = 1; rank < ranks; ++rank) {
      if (gathered[rank * stride + field + 1] != gathered[field + 1]) {
        return DescribeDifference(field, gathered, rank);
      }
    }
  }
  return Status::Ok();
}

Status Agreement::DescribeDifference(size_t field,
                                     std::span<const uint64_t> gathered,
                                     size_t differing_rank) const {
  const size_t stride = fields_.size() + 1;
  const auto bits_of = [&](size_t rank) {
    return gathered[rank * stride + field + 1];
  };
  std::vector<size_t> as_first, as_differing;
  for (size_t rank = 0; rank * stride < gathered.size(); ++rank) {
    if (bits_of(rank) == bits_of(0)) as_first.push_back(rank);
    if (bits_of(rank) == bits_of(differing_rank)) as_differing.push_back(rank);
  }
  const Field& description = fields_[field];
  const auto text = [&](size_t rank) {
    switch (description.kind) {
      case Kind::kInteger:
        return fmt::format("{}", std::bit_cast<int64_t>(bits_of(rank)));
      case Kind::kNumber:
        return fmt::format("{}", std::bit_cast<double>(bits_of(rank)));
      default:
        return fmt::format("something with hash {:016x}", bits_of(rank));
    }
  };
  return Status(
      Code::kMismatch,
      fmt::format("{} differ between ranks: {} is {} on {} and {} on {}",
                  subject_, description.name, text(0), RankList(as_first),
                  text(differing_rank), RankList(as_differing)));
}

uint64_t Fingerprint(const void* data, size_t bytes, uint64_t seed) {
  const char* at = static_cast<const char*>(data);
  uint64_t hash = Mix(seed, bytes);
  for (; bytes >= 8; at += 8, bytes -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = Mix(hash, word);
  }
  if (bytes > 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, bytes);
    hash = Mix(hash, word);
  }
  return Mix(hash, 0);
}

uint64_t FingerprintText(std::string_view text, uint64_t seed) {
  return Fingerprint(text.data(), text.size(), seed);
}

}  // namespace rondo
