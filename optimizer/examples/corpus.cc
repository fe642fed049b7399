#include "optimizer/examples/corpus.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "optimizer/examples/random.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

// Appends the file to `text`, up to kMaxCorpusBytes of it altogether.
Status AppendFile(const fs::path& path, std::string* text) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return InvalidArgument(fmt::format("{} is not a readable file{}{}",
                                       path.string(), error ? ": " : "",
                                       error ? error.message() : ""));
  }
  std::ifstream stream(path, std::ios::binary);
  const size_t before = text->size();
  text->resize(kMaxCorpusBytes);
  stream.read(text->data() + before,
              static_cast<std::streamsize>(kMaxCorpusBytes - before));
  text->resize(before + static_cast<size_t>(stream.gcount()));
  if (!stream.is_open() || stream.bad()) {
    return InvalidArgument(fmt::format("{} cannot be read", path.string()));
  }
  return Status::Ok();
}

// Symbolic links are left out: they would repeat a text under another name.
std::vector<fs::path> RegularFiles(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (!at->is_symlink(ignored) && at->is_regular_file(ignored)) {
      files.push_back(at->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<Corpus> LoadFile(const std::string& path) {
  std::string text;
  RONDO_RETURN_IF_ERROR(AppendFile(path, &text));
  if (text.empty()) {
    return InvalidArgument(fmt::format("{} is empty: text is needed", path));
  }
  return CorpusFromText(path, text);
}

}  // namespace

std::string Corpus::Decode(std::span<const int> some_tokens) const {
  std::string text;
  for (int token : some_tokens) text += vocabulary[token];
  return text;
}

CorpusPlaces DefaultCorpusPlaces() {
  CorpusPlaces places;
  places.directory = "/usr/share/common-licenses";
  places.files = {"README.md"};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    places.files.push_back(program.string() + ".runfiles/rondo/README.md");
  }
  return places;
}

Result<Corpus> LoadCorpus(const std::string& path, const CorpusPlaces& places) {
  if (!path.empty()) return LoadFile(path);
  std::string text;
  for (const fs::path& file : RegularFiles(places.directory)) {
    // One unreadable file among many only makes the text shorter.
    static_cast<void>(AppendFile(file, &text));
  }
  if (!text.empty()) return CorpusFromText(places.directory, text);
  std::string looked_at = places.directory;
  for (const std::string& file : places.files) {
    Result<Corpus> corpus = LoadFile(file);
    if (corpus.ok()) return corpus;
    looked_at += ", " + file;
  }
  return InvalidArgument(fmt::format(
      "no text to train on was found in {}: name a text file", looked_at));
}

Corpus CorpusFromText(std::string source, std::string_view text) {
  Corpus corpus;
  corpus.source = std::move(source);
  std::array<bool, 256> occurs{};
  for (char c : text) occurs[static_cast<uint8_t>(c)] = true;
  std::array<uint8_t, 256> token_of_byte{};
  for (int byte = 0; byte < 256; ++byte) {
    if (!occurs[byte]) continue;
    token_of_byte[byte] = static_cast<uint8_t>(corpus.vocabulary.size());
    corpus.vocabulary += static_cast<char>(byte);
  }
  corpus.tokens.reserve(text.size());
  for (char c : text) {
    corpus.tokens.push_back(token_of_byte[static_cast<uint8_t>(c)]);
  }
  return corpus;
}

std::vector<size_t> BatchPlaces(const Corpus& corpus, int context,
                                uint64_t seed, int step, int count) {
  // A generator of its own for each step: no step depends on the ones before.
  Random steps(seed);
  Random random(steps.Next() + static_cast<uint64_t>(step));
  const size_t choices = corpus.tokens.size() - context;
  std::vector<size_t> places(count);
  for (size_t& place : places) place = context + random.Below(choices);
  return places;
}

std::span<const size_t> RankSlice(std::span<const size_t> places, int rank,
                                  int world_size) {
  const size_t begin = places.size() * rank / world_size;
  const size_t end = places.size() * (rank + 1) / world_size;
  return places.subspan(begin, end - begin);
}

CharBatch MakeBatch(const Corpus& corpus, int context,
                    std::span<const size_t> places) {
  CharBatch batch;
  for (size_t place : places) {
    const auto target = corpus.tokens.begin() + place;
    batch.contexts.insert(batch.contexts.end(), target - context, target);
    batch.targets.push_back(*target);
  }
  return batch;
}

}  // namespace rondo
