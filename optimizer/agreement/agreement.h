// Agreement: do all ranks hold the same settings?
//
// Ranks that train together must have been configured alike, and a rank that
// was not would compute garbage, not fail. An Agreement lists named values;
// Check() compares them over all ranks and names the first field that differs,
// its values and the ranks that have them. A rank whose own arguments are no
// good says so in the same exchange instead of leaving the others to wait.
//
// Check() is collective: every rank adds the same fields in the same order. All
// ranks return an error when one does; the communicator stays usable.
//
// Thread-safety: one thread at a time. Ownership: owns its names; the
// communicator stays the caller's. Failure: kMismatch from a difference, this
// rank's own refusal, or what the communicator reports.
//
// Example:
//   Agreement agreement("training options");
//   agreement.AddInteger("steps", options.steps);
//   agreement.AddNumber("learning_rate", options.learning_rate);
//   RONDO_RETURN_IF_ERROR(agreement.Check(communicator));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/communicator.h"
#include "transports/base/status.h"

namespace rondo {

class Agreement {
 public:
  // `subject` opens the error messages: "training options".
  explicit Agreement(std::string subject) : subject_(std::move(subject)) {}

  void AddInteger(std::string name, int64_t value);
  void AddNumber(std::string name, double value);
  // Of something too long to compare or to show: see Fingerprint().
  void AddHash(std::string name, uint64_t hash);
  // This rank cannot take part; `why` is returned here, and every other rank
  // returns an error that names this one. An ok status changes nothing.
  void Refuse(const Status& why);

  Status Check(Communicator* communicator) const;

  // The part of Check() that needs no communicator. `gathered` holds what every
  // rank sends, one after the other: Encoded() of each.
  std::vector<uint64_t> Encoded() const;
  Status Compare(std::span<const uint64_t> gathered) const;

 private:
  enum class Kind { kInteger, kNumber, kHash };
  struct Field {
    Kind kind;
    std::string name;
    uint64_t bits;
  };

  Status DescribeDifference(size_t field, std::span<const uint64_t> gathered,
                            size_t differing_rank) const;

  std::string subject_;
  std::vector<Field> fields_;
  Status refusal_;
};

// 64 bits that tell byte strings apart: for comparison, not against attack.
uint64_t Fingerprint(const void* data, size_t bytes, uint64_t seed = 0);
uint64_t FingerprintText(std::string_view text, uint64_t seed = 0);

}  // namespace rondo
