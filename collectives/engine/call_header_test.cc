#include "collectives/engine/call_header.h"

#include <vector>

#include "collectives/kernels/data_type.h"
#include "collectives/plan/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using testing::HasSubstr;
using testing::Not;

CallHeader Header(uint64_t count) {
  CallHeader header;
  header.sequence = 7;
  header.count = count;
  header.collective = static_cast<uint32_t>(Collective::kAllGather);
  header.type = static_cast<uint32_t>(DataType::kFloat32);
  header.Seal();
  return header;
}

using Ranked = std::vector<std::pair<int, CallHeader>>;

TEST(CallHeaderTest, EqualCallsMatchWhereverTheirBuffersAre) {
  CallHeader elsewhere = Header(4);
  elsewhere.input_address = 1;
  elsewhere.output_kind = 1;
  elsewhere.Seal();
  EXPECT_TRUE(MatchHeaders(Ranked{{0, Header(4)}, {1, elsewhere}}).ok());
  EXPECT_TRUE(MatchHeaders(Ranked{}).ok());
}

TEST(CallHeaderTest, TheMinorityIsNamedWithWhatItCalled) {
  const Status status =
      MatchHeaders(Ranked{{0, Header(5)}, {1, Header(4)}, {2, Header(4)}});
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_EQ(status.message(),
            "rank 0 called all_gather(count 5, float) as call 7, which differs "
            "in count; rank 1 called all_gather(count 4, float) as call 7");
}

TEST(CallHeaderTest, InATieTheLowestRankIsTheReference) {
  EXPECT_THAT(MatchHeaders(Ranked{{3, Header(5)}, {1, Header(4)}}).message(),
              testing::StartsWith("rank 3 called"));
}

TEST(CallHeaderTest, EveryFieldThatMustAgreeIsNamed) {
  const auto differ = [](auto change) {
    CallHeader other = Header(4);
    change(&other);
    other.Seal();
    return MatchHeaders(Ranked{{0, Header(4)}, {1, other}}).message();
  };
  EXPECT_THAT(differ([](CallHeader* h) { h->sequence = 8; }),
              HasSubstr("differs in order of calls;"));
  EXPECT_THAT(differ([](CallHeader* h) { h->counts_hash = 8; }),
              HasSubstr("differs in counts per rank;"));
  EXPECT_THAT(differ([](CallHeader* h) { h->type = 1; }),
              HasSubstr("differs in type;"));
  EXPECT_THAT(differ([](CallHeader* h) { h->reduction = 2; }),
              HasSubstr("differs in reduction;"));
  EXPECT_THAT(differ([](CallHeader* h) { h->root = 2; }),
              HasSubstr("differs in root;"));
  EXPECT_THAT(differ([](CallHeader* h) { h->chunk_bytes = 2; }),
              HasSubstr("RONDO_CHUNK_BYTES"));
  EXPECT_THAT(differ([](CallHeader* h) { h->algorithm_hash = 2; }),
              HasSubstr("RONDO_ALGO"));
  EXPECT_THAT(
      differ([](CallHeader* h) { h->parameters_hash = 2; }),
      HasSubstr("differs in parameter counts or settings of the update;"));
  EXPECT_THAT(differ([](CallHeader* h) { h->output_type = 2; }),
              HasSubstr("differs in output type;"));
}

TEST(CallHeaderTest, NumbersFromOutsideArePrintedNotTrusted) {
  CallHeader hostile = Header(4);
  hostile.collective = 4000000000u;
  hostile.type = 77;
  EXPECT_THAT(HeaderToText(hostile), HasSubstr("collective 4000000000"));
  EXPECT_THAT(HeaderToText(hostile), HasSubstr("type 77"));
}

TEST(CallHeaderTest, AHashThatNoFieldExplainsIsADamagedHeader) {
  CallHeader damaged = Header(4);
  damaged.agreement ^= 1;
  EXPECT_THAT(MatchHeaders(Ranked{{0, Header(4)}, {1, damaged}}).message(),
              HasSubstr("damaged"));
}

}  // namespace
}  // namespace rondo
