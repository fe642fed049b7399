// The plan of a collective: what every rank does to which block, in which
// order.
//
// A plan has two halves. The *shape*, declared here, lists steps over blocks
// and knows nothing of element counts, types, pointers or transports; it is a
// pure function of (collective, algorithm, ranks, options), so that one proof
// serves every size. The *binding* (engine/binding.h) says how many elements a
// block has, where it lies, and how a peer's space is reached.
//
// Blocks. Each rank has three spaces. A space is an array of blocks:
//
//   collective       input of rank r    output of rank r     scratch
//   all_gather       block r            blocks 0..ranks-1    as the shape asks
//   reduce_scatter   blocks 0..ranks-1  block r              as the shape asks
//   sharded_step     blocks 0..ranks-1  blocks 0..ranks-1    as the shape asks
//   reduce_update    blocks 0..ranks-1  none                 as the shape asks
//   update_gather    none               blocks 0..ranks-1    as the shape asks
//   broadcast        block 0 (at root)  block 0              as the shape asks
//   barrier          none               none                 none
//
// Block b of input and output is the same logical part of the vector on every
// rank: rank b's shard. Counts may differ between blocks.
//
// Chunks. Blocks are cut into chunks of one size (the last one of a block is
// shorter, and a block may have fewer chunks than another). RankProgram::chunk
// is one rank's sequence of steps for one chunk; it is run once for every chunk
// index, several indices in flight at a time, chunk c on rail c mod rails.
// Steps of different chunk indices never touch the same element, and each index
// in flight has its own scratch blocks: so what is proved of one chunk holds
// for all. A step on a chunk index that lies beyond its block's end moves
// nothing.
//
// Order. A program runs from top to bottom. Send, recv and put only start a
// transfer: its buffers are in use until a `wait` for that step. Copy, reduce
// and update are finished when the next step begins. A send may stay unfinished
// until the peer has posted its recv.
//
// Peers' memory. A step may name a block of another rank's space (direct
// algorithms). It may do so only between `wait` for that rank's kReadyFlag and
// our `signal` of kDoneFlag to it, and nobody finishes before its peers are
// done.
//
// Thread-safety: values. ForRank() of one Shape may run on several threads.
//
// Example:
//   Shape shape = RingAllGather(RankOrder::Identity(6));
//   RONDO_RETURN_IF_ERROR(VerifyShape(shape).status());
//   RankProgram mine = shape.ForRank(2);
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

enum class Collective : uint8_t {
  kAllGather = 0,
  kReduceScatter = 1,
  kShardedStep = 2,  // reduce-scatter, update, all-gather as one plan
  kBroadcast = 3,
  kBarrier = 4,
  // The halves of a sharded step, for an update that must know something of all
  // gradients (their norm) before it changes anything: the functor keeps what
  // the first half gives it, and makes from that what the second half gathers.
  kReduceUpdate = 5,  // reduce-scatter, update
  kUpdateGather = 6,  // update, all-gather
};
inline constexpr int kCollectives = 7;

// "all_gather", "reduce_scatter", "sharded_step", "broadcast", "barrier",
// "reduce_update", "update_gather".
std::string_view CollectiveName(Collective collective);

// Whether an update functor takes part.
constexpr bool HasUpdate(Collective collective) {
  return collective == Collective::kShardedStep ||
         collective == Collective::kReduceUpdate ||
         collective == Collective::kUpdateGather;
}

enum class Space : uint8_t { kInput = 0, kOutput = 1, kScratch = 2 };

std::string_view SpaceName(Space space);  // "input", "output", "scratch"

// One block, or `count` blocks index, index + stride, ... of one rank's space.
// A step over several blocks does to the k-th block of each operand what a step
// over one block does; strided sets spare hierarchical algorithms a shuffle.
struct BlockRef {
  Space space = Space::kInput;
  int owner = 0;  // rank whose space it is
  int index = 0;
  int stride = 1;
  int count = 1;
  // Scratch only: the logical block whose (partial) content it holds in this
  // step, which says how many elements that is. Input and output: left at -1,
  // because there the index is the logical block.
  int block = -1;

  int LogicalBlock() const { return space == Space::kScratch ? block : index; }

  // The k-th block of the set, 0 <= k < count.
  BlockRef At(int k) const {
    return {space, owner, index + k * stride,
            1,     1,     block < 0 ? block : block + k * stride};
  }

  friend bool operator==(const BlockRef&, const BlockRef&) = default;
};

enum class StepKind : uint8_t {
  kSend,    // sources[0] to `peer`, matched by `message`
  kRecv,    // from `peer` into destinations[0], matched by `message`
  kPut,     // sources[0] stored into destinations[0], which `peer` owns
  kSignal,  // raise `flag` at `peer`
  kWait,    // until step `waits_for` is finished, or `peer` has raised `flag`
  kCopy,    // every destination = sources[0]; may be peers' spaces
  kReduce,  // destinations[0] = sum of sources, in the order listed
  // The functor turns sources into every destination. A reduce_update has no
  // destinations, an update_gather no sources.
  kUpdate,
};

std::string_view StepKindName(StepKind kind);

// Flags a rank can raise at a peer, once per call. Higher numbers are free for
// the algorithm (barrier uses one per round).
inline constexpr int kReadyFlag = 0;  // my spaces may be touched
inline constexpr int kDoneFlag = 1;   // I no longer touch your spaces
inline constexpr int kFirstFreeFlag = 2;
inline constexpr int kMaxFlags = 24;

struct Step {
  StepKind kind = StepKind::kCopy;
  std::vector<BlockRef> sources;
  std::vector<BlockRef> destinations;
  int peer = -1;       // send, recv, put, signal, wait for a flag
  int message = -1;    // send, recv: equal on both sides, unique per peer pair
  int flag = -1;       // signal, wait for a flag
  int waits_for = -1;  // wait for a step: its index in the same list
  // reduce: this completes the sum, so that an average is divided here.
  bool completes_sum = false;
};

// The blocks that a copy, reduce or update goes through, operand by operand.
const BlockRef& BlocksThrough(const Step& step);

// What one rank does. Built on demand; a few steps per rank of the ring.
struct RankProgram {
  std::vector<Step> prologue;  // once per call, before the first chunk
  std::vector<Step> chunk;     // for every chunk
  std::vector<Step> epilogue;  // once per call, after the last chunk
  int scratch_blocks = 0;      // one chunk each, per chunk index in flight
};

struct Shape {
  Collective collective = Collective::kAllGather;
  std::string algorithm;  // "ring", "chain", "dissemination", "direct", ...
  int ranks = 1;
  int root = 0;   // broadcast
  int rails = 1;  // chunk c of the loop travels on rail c mod rails
  std::function<RankProgram(int rank)> for_rank;

  RankProgram ForRank(int rank) const { return for_rank(rank); }
};

// Blocks that input and output have on `rank`, as in the table above.
struct BlockSpan {
  int first = 0;
  int count = 0;
};
BlockSpan BlocksOf(const Shape& shape, Space space, int rank);

// How many blocks the whole vector has: `ranks`, 1 for broadcast, 0 for
// barrier.
int LogicalBlocks(const Shape& shape);

// Builds one rank's list of steps readably; used by every algorithm.
class StepList {
 public:
  explicit StepList(std::vector<Step>* steps) : steps_(steps) {}

  // Each returns the index of the new step, to be waited for.
  int Send(BlockRef source, int peer, int message);
  int Recv(BlockRef destination, int peer, int message);
  int Put(BlockRef source, BlockRef destination);
  int Copy(BlockRef source, BlockRef destination);
  int Copy(BlockRef source, std::vector<BlockRef> destinations);
  int Reduce(std::vector<BlockRef> sources, BlockRef destination,
             bool completes_sum);
  int Update(std::vector<BlockRef> sources, std::vector<BlockRef> destinations);
  int Signal(int peer, int flag);
  int WaitStep(int step);
  int WaitFlag(int peer, int flag);

 private:
  int Add(Step step);
  std::vector<Step>* steps_;
};

}  // namespace rondo
