// Executes a shape with real integers in a random interleaving of all ranks and
// transfers: an oracle for the verifier that shares none of its ideas.
//
// It is hostile where plan.h allows it: a destination holds garbage from the
// moment its transfer is posted, sources are read and data lands at any moment,
// local steps read and write at different moments, and memory that a rank has
// not yet handed over or has taken back must not be touched.
//
// Thread-safety: pure function. Failure: the text says what went wrong; it is
// empty when every rank ended with exactly the right values.
//
// Example:
//   std::string problem =
//       ExecuteAtRandom(shape, Placement::kInPlace, Sends::kEager, seed);
#pragma once

#include <cstdint>
#include <string>

#include "collectives/plan/plan.h"
#include "collectives/plan/verifier.h"

namespace rondo {

enum class Sends : uint8_t {
  kEager,       // finished as soon as the source was read
  kRendezvous,  // reads the source only once the recv is posted
};

std::string ExecuteAtRandom(const Shape& shape, Placement placement,
                            Sends sends, uint64_t seed);

}  // namespace rondo
