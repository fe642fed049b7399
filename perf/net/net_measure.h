// One cell of the table: a test at a size, plugin and raw UCX in turns.
//
// Before the turns, every byte of a window is checked both ways, and the number
// of messages is found that lasts as long as a turn should; both sides then
// move that many. After them, one more run has its calls timed singly.
//
// Thread-safety: one thread. Failure: the pair's and ucx_perftest's errors, in
// the context of the test and size.
//
// Example:
//   NetMeasure measure(&pair, &raw, options);
//   RONDO_ASSIGN_OR_RETURN(NetCell cell,
//                          measure.Cell(NetTest::kLatency, 8));
#pragma once

#include <cstddef>
#include <cstdint>

#include "perf/net/net_options.h"
#include "perf/net/net_pair.h"
#include "perf/net/net_result.h"
#include "perf/net/raw_ucx.h"
#include "transports/base/status.h"

namespace rondo::perf {

class NetMeasure {
 public:
  // `raw` is null where nothing is compared.
  NetMeasure(NetPair* pair, const RawUcx* raw, const NetOptions& options)
      : pair_(pair), raw_(raw), options_(options) {}

  Result<NetCell> Cell(NetTest test, size_t bytes);

 private:
  Status Fill(NetCell* cell);
  Status FindMessages(NetCell* cell);
  Status TakeTurns(NetCell* cell);
  Result<PairAnswers> RunPlugin(const NetCell& cell, int64_t messages,
                                bool watch);
  Result<double> RunRaw(const NetCell& cell) const;

  NetPair* pair_;
  const RawUcx* raw_;
  const NetOptions& options_;
};

}  // namespace rondo::perf
