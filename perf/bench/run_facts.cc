#include "perf/bench/run_facts.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "perf/bench/gather.h"

namespace rondo::perf {
namespace {

// As it travels between ranks.
struct FactsRecord {
  int64_t pid;
  int64_t host;
  std::array<char, 256> hostname;  // ends in zeros
};

}  // namespace

Result<std::vector<RankFacts>> GatherRankFacts(Communicator* communicator) {
  FactsRecord mine = {};
  mine.pid = getpid();
  mine.host = communicator->host();
  gethostname(mine.hostname.data(), mine.hostname.size() - 1);
  RONDO_ASSIGN_OR_RETURN(const std::vector<FactsRecord> records,
                         GatherValues(communicator, mine));
  std::vector<RankFacts> facts;
  for (const FactsRecord& record : records) {
    const auto end =
        std::find(record.hostname.begin(), record.hostname.end(), '\0');
    facts.push_back({static_cast<int>(facts.size()),
                     static_cast<int>(record.host), record.pid,
                     std::string(record.hostname.begin(), end)});
  }
  return facts;
}

std::string NowText() {
  const time_t now = time(nullptr);
  tm parts = {};
  localtime_r(&now, &parts);
  std::array<char, 32> text = {};
  strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

std::vector<std::string> SteeringVariables(
    const EnvironmentReader& environment) {
  std::vector<std::string> found;
  for (const auto& [name, value] : environment.variables()) {
    if (name.rfind("RONDO_", 0) == 0 || name.rfind("UCX_", 0) == 0) {
      found.push_back(name + "=" + value);
    }
  }
  return found;
}

std::vector<std::string> CommandWords(const Invocation& invocation) {
  std::vector<std::string> words = {"rondo"};
  words.insert(words.end(), invocation.arguments.begin(),
               invocation.arguments.end());
  return words;
}

}  // namespace rondo::perf
