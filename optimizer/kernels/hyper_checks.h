// Checks that the hyper-parameters of all rules share.
//
// Each returns kInvalidArgument with the name, the value and what is accepted.
// Rules compute in float, so a value must also be accepted after rounding to
// it: 0.99999999999 would become 1 there, and its 1 - beta would not be 0.
//
// Thread-safety: pure functions. Ownership: none. Failure: as said.
//
// Example:
//   RONDO_RETURN_IF_ERROR(CheckNotNegative("learning_rate", learning_rate));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

// A number from 0 to the largest float.
Status CheckNotNegative(std::string_view name, double value);

// At least 0 and below 1, also as a float.
Status CheckFraction(std::string_view name, double value);

// Above 0 and finite, also as a float.
Status CheckPositive(std::string_view name, double value);

// 0 to group_count - 1.
Status CheckGroup(int group, int group_count);

// Step numbers count from 1.
Status CheckStep(int64_t step);

// "group 3": the context of an error.
std::string GroupContext(int group);

// At least one group, each of which `check` accepts; else the group's number
// stands before its error.
template <typename Hyper>
Status CheckGroups(const std::vector<Hyper>& groups,
                   Status (*check)(const Hyper&)) {
  if (groups.empty()) {
    return InvalidArgument("there are 0 groups: at least 1 is accepted");
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    RONDO_RETURN_IF_ERROR(
        check(groups[group])
            .WithContext(GroupContext(static_cast<int>(group))));
  }
  return Status::Ok();
}

}  // namespace rondo
