// Corpus: text as numbers, and the samples of a training step.
//
// Each byte that occurs in the text becomes a token, numbered in byte order. A
// sample is a run of `context` tokens and the one that follows. The samples of
// a step are a fixed list of places, drawn from (seed, step); each rank takes
// its slice of the list, so any number of ranks sees the same global batch.
//
// Thread-safety: values and pure functions. Ownership: owns its text.
// Failure: LoadCorpus() names the file and what is wrong with it, or, without a
// file, every place where it looked.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Corpus corpus, LoadCorpus(""));
//   CharBatch batch = MakeBatch(corpus, context,
//                               BatchPlaces(corpus, context, seed, step, 128));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/examples/char_model.h"
#include "transports/base/status.h"

namespace rondo {

// Of a longer text only the beginning is used.
inline constexpr size_t kMaxCorpusBytes = size_t{4} << 20;

struct Corpus {
  std::string source;      // for people: the file or files
  std::string vocabulary;  // the byte of each token
  std::vector<uint8_t> tokens;

  std::string Decode(std::span<const int> some_tokens) const;
};

// Where the default text is looked for, in this order.
struct CorpusPlaces {
  // Its regular files, in order of their names, are joined.
  std::string directory;
  // The first that exists is taken.
  std::vector<std::string> files;
};

// The licence texts that Debian installs, else this project's README.md: in the
// working directory, or among the files that Bazel puts beside a program.
CorpusPlaces DefaultCorpusPlaces();

// The text of the file `path`; if that is empty, of the first of `places` that
// has any.
Result<Corpus> LoadCorpus(const std::string& path,
                          const CorpusPlaces& places = DefaultCorpusPlaces());

Corpus CorpusFromText(std::string source, std::string_view text);

// `count` places of targets: at least `context`, below the number of tokens,
// which must be larger than `context`.
std::vector<size_t> BatchPlaces(const Corpus& corpus, int context,
                                uint64_t seed, int step, int count);

// Rank `rank`'s part of `places`. Slices are in rank order and differ by at
// most one in length.
std::span<const size_t> RankSlice(std::span<const size_t> places, int rank,
                                  int world_size);

CharBatch MakeBatch(const Corpus& corpus, int context,
                    std::span<const size_t> places);

}  // namespace rondo
