#include "collectives/engine/binding.h"

#include <cstdint>

#include "collectives/algorithms/algorithms.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

CallArguments Arguments(Collective collective, std::vector<size_t> counts) {
  CallArguments arguments;
  arguments.collective = collective;
  arguments.input = reinterpret_cast<const void*>(uintptr_t{100000});
  arguments.output = reinterpret_cast<void*>(uintptr_t{500000});
  arguments.counts = BlockCounts(std::move(counts));
  return arguments;
}

uintptr_t Address(const Piece& piece) {
  return reinterpret_cast<uintptr_t>(piece.data);
}

TEST(BindingTest, AllGatherInputIsOneBlockAndOutputIsAll) {
  const Shape shape = RingAllGather(RankOrder::Identity(3));
  const CallArguments arguments = Arguments(Collective::kAllGather, {5, 0, 7});
  Binding binding;
  binding.Reset(arguments, shape.ranks, /*rank=*/2, /*chunk_bytes=*/16);
  const Piece in = binding.PieceAt({Space::kInput, 2, 2}, 0, 0);
  EXPECT_EQ(Address(in), 100000u);
  EXPECT_EQ(in.count, 4u);
  const Piece out = binding.PieceAt({Space::kOutput, 2, 2}, 1, 0);
  EXPECT_EQ(Address(out), 500000u + (5 + 4) * 4);
  EXPECT_EQ(out.count, 3u);
  EXPECT_EQ(out.block_offset, 4u);
}

TEST(BindingTest, ReduceScatterOutputIsTheOwnBlockAlone) {
  const Shape shape = RingReduceScatter(RankOrder::Identity(3));
  const CallArguments arguments =
      Arguments(Collective::kReduceScatter, {5, 6, 7});
  Binding binding;
  binding.Reset(arguments, shape.ranks, 1, 16);
  EXPECT_EQ(Address(binding.PieceAt({Space::kOutput, 1, 1}, 0, 0)), 500000u);
  EXPECT_EQ(Address(binding.PieceAt({Space::kInput, 1, 2}, 0, 0)),
            100000u + 11 * 4);
}

TEST(BindingTest, ChunksCoverTheLongestBlockAndEndWithEachBlock) {
  const Shape shape = RingAllGather(RankOrder::Identity(3));
  const CallArguments arguments = Arguments(Collective::kAllGather, {5, 0, 9});
  Binding binding;
  binding.Reset(arguments, shape.ranks, 0, 16);
  EXPECT_EQ(binding.chunk_count(), 3);
  for (int block = 0; block < 3; ++block) {
    size_t covered = 0;
    for (int64_t chunk = 0; chunk < binding.chunk_count(); ++chunk) {
      covered += binding.PieceAt({Space::kOutput, 0, block}, chunk, 0).count;
    }
    EXPECT_EQ(covered, arguments.counts[block]);
  }
}

TEST(BindingTest, NothingToMoveMeansNoChunks) {
  const Shape shape = RingAllGather(RankOrder::Identity(2));
  const CallArguments arguments = Arguments(Collective::kAllGather, {0, 0});
  Binding binding;
  binding.Reset(arguments, shape.ranks, 0, 16);
  EXPECT_EQ(binding.chunk_count(), 0);
}

TEST(BindingTest, ScratchBlocksOfChunksInFlightDoNotOverlap) {
  const Shape shape = RingReduceScatter(RankOrder::Identity(3));
  const CallArguments arguments =
      Arguments(Collective::kReduceScatter, {40, 40, 40});
  Binding binding;
  binding.Reset(arguments, shape.ranks, 0, 16);
  std::vector<char> scratch(binding.ScratchBytes(2, 3));
  EXPECT_EQ(scratch.size(), 2u * 3 * 16);
  binding.SetScratch(scratch.data(), 2);
  std::vector<uintptr_t> seen;
  for (int slot = 0; slot < 3; ++slot) {
    for (int index = 0; index < 2; ++index) {
      const BlockRef block{
          .space = Space::kScratch, .owner = 0, .index = index, .block = 1};
      seen.push_back(Address(binding.PieceAt(block, slot, slot)));
    }
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], reinterpret_cast<uintptr_t>(scratch.data()) + 16 * i);
  }
}

TEST(BindingTest, CountsBeyondTwoToTheThirtyOneKeepTheirAddresses) {
  const size_t big = (size_t{1} << 33) + 5;
  const Shape shape = RingAllGather(RankOrder::Identity(2));
  const CallArguments arguments = Arguments(Collective::kAllGather, {big, big});
  Binding binding;
  binding.Reset(arguments, shape.ranks, 0, 1 << 20);
  const int64_t last = binding.chunk_count() - 1;
  const Piece piece = binding.PieceAt({Space::kOutput, 0, 1}, last, 0);
  EXPECT_EQ(Address(piece) + piece.bytes(), 500000u + 2 * big * 4);
}

TEST(BindingTest, ShardedStepHasATypeForEachSpace) {
  const Shape shape = RingShardedStep(RankOrder::Identity(2));
  CallArguments arguments = Arguments(Collective::kShardedStep, {100, 100});
  arguments.output_type = DataType::kBfloat16;
  Binding binding;
  binding.Reset(arguments, shape.ranks, 0, 64);
  EXPECT_EQ(binding.PieceAt({Space::kInput, 0, 1}, 1, 0).bytes(), 64u);
  EXPECT_EQ(binding.PieceAt({Space::kOutput, 0, 1}, 1, 0).bytes(), 32u);
  EXPECT_EQ(Address(binding.PieceAt({Space::kOutput, 0, 1}, 1, 0)),
            500000u + (100 + 16) * 2);
}

}  // namespace
}  // namespace rondo
