// The algorithms: pure functions from a rank order to a Shape.
//
// Each returns a shape that the verifier accepts for any number of ranks >= 1
// (the barrier: up to 2^22, as it needs a flag per round). An order that is no
// permutation, or a root out of range, gives a shape that the verifier refuses.
// Costs below: a = latency of one message, n = bytes of the whole vector, p =
// ranks, b = seconds per byte of one link (see e.g. Chan, Heimlich, Purkayastha
// and van de Geijn, "Collective communication: theory, practice, and
// experience", 2007).
//
//   function            steps   time               bytes sent per rank
//   RingAllGather       p - 1   (p-1)(a + n/p b)   n (p-1)/p
//   RingReduceScatter   p - 1   (p-1)(a + n/p b)   n (p-1)/p
//   RingShardedStep     2p - 2  2(p-1)(a + n/p b)  2 n (p-1)/p
//   ChainBroadcast      p - 1   (p-2+c)(a + n/c b) n, but the last rank none
//
//   DirectAllGather     1       n/p per peer, read from its memory
//   DirectAllGatherPush 1       n/p per peer, written into its memory
//   DirectReduceScatter 1       n/p per peer, read from its memory
//   DirectShardedStep   1       n/p per peer read, n/p per peer written
//
// where the chain is cut into c chunks. DisseminationBarrier takes ceil(log2 p)
// steps of one flag each.
//
// The ring pays p - 1 latencies but sends each byte to a neighbour only, at the
// lower bound of bytes; chunks pipeline it. The direct algorithms need ranks
// that reach each other's memory, and sum in rank order with one rounding.
#pragma once

#include <vector>

#include "collectives/plan/plan.h"

namespace rondo {

// A ring's order: position i is held by rank at[i]; each sends to the next
// position. Topology chooses it; a permutation of 0..ranks-1.
struct RankOrder {
  std::vector<int> at;

  static RankOrder Identity(int ranks);
  int ranks() const { return static_cast<int>(at.size()); }
  int PositionOf(int rank) const;
  bool IsPermutation() const;
};

Shape RingAllGather(RankOrder order);
// Sums around the ring: block b's sum starts at the rank after b and ends at b,
// rounded to the wire type at each of the p - 1 hops.
Shape RingReduceScatter(RankOrder order);
// The two above joined by `update`, chunk by chunk, with no barrier in between.
Shape RingShardedStep(RankOrder order);
// Its halves.
Shape RingReduceUpdate(RankOrder order);
Shape RingUpdateGather(RankOrder order);
// Each rank pulls every block out of its owner's input.
Shape DirectAllGather(int ranks);
// Each rank reads its block once and stores it into all outputs, which must be
// mapped everywhere: a third less traffic when input and output differ.
Shape DirectAllGatherPush(int ranks);
Shape DirectReduceScatter(int ranks);
// Each rank updates its shard from all inputs, into its own output; peers get
// it from there, chunk by chunk, still in cache.
Shape DirectShardedStep(int ranks);
// The functor itself stores into all outputs, which must be mapped everywhere:
// gradients are read once and parameters written once.
Shape DirectShardedStepPush(int ranks);
// Their halves.
Shape DirectReduceUpdate(int ranks);
Shape DirectUpdateGather(int ranks);
Shape DirectUpdateGatherPush(int ranks);
// From the rank at `root` along the order.
Shape ChainBroadcast(RankOrder order, int root);
// Hensgen, Finkel and Manber 1988: round k signals the rank 2^k further on.
Shape DisseminationBarrier(int ranks);

}  // namespace rondo
