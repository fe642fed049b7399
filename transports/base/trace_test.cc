#include "transports/base/trace.h"

#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

using Json = nlohmann::json;

std::unique_ptr<TraceRecorder> MakeRecorder(int rank, size_t capacity = 64) {
  auto recorder = TraceRecorder::Create(rank, capacity);
  EXPECT_TRUE(recorder.ok());
  return *std::move(recorder);
}

// The events of one phase, in order.
std::vector<Json> EventsOf(const TraceRecorder& recorder, const char* phase) {
  std::vector<Json> events;
  const Json trace = Json::parse(recorder.ToJson());
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

TEST(TraceTest, ACompleteEventHasRankThreadTimesAndArguments) {
  const auto recorder = MakeRecorder(/*rank=*/5);
  recorder->Complete("send", "step", 2, 1'234'567, 1'240'000,
                     {{{"bytes", 4096}, {"peer", -1}}});
  const auto events = EventsOf(*recorder, "X");
  ASSERT_EQ(events.size(), 1u);
  const Json expected = {
      {"ph", "X"},     {"name", "send"},
      {"cat", "step"}, {"pid", 5},
      {"tid", 2},      {"ts", 1234.567},
      {"dur", 5.433},  {"args", {{"bytes", 4096}, {"peer", -1}}}};
  EXPECT_EQ(events[0], expected);
}

TEST(TraceTest, TimesAreExactToTheNanosecondAfterYearsOfUptime) {
  const auto recorder = MakeRecorder(0);
  recorder->Complete("a", "b", 0, 300'000'000'123'456'007,
                     300'000'000'123'456'010, {});
  const std::string text = recorder->ToJson();
  EXPECT_NE(text.find("\"ts\":300000000123456.007"), std::string::npos) << text;
  EXPECT_NE(text.find("\"dur\":0.003"), std::string::npos) << text;
}

TEST(TraceTest, AnEndBeforeItsStartCountsAsNoTime) {
  const auto recorder = MakeRecorder(0);
  recorder->Complete("a", "b", 0, 2000, 1000, {});
  EXPECT_EQ(EventsOf(*recorder, "X")[0]["dur"], 0.0);
}

TEST(TraceTest, MetadataNamesTheRankAndItsThreads) {
  const auto recorder = MakeRecorder(3);
  recorder->NameThread(1, "lane \"1\"\n");
  std::map<std::string, Json> metadata;
  for (const Json& event : EventsOf(*recorder, "M")) {
    EXPECT_EQ(event["pid"], 3);
    metadata[event["name"]] = event;
  }
  EXPECT_EQ(metadata["process_name"]["args"]["name"], "rank 3");
  EXPECT_EQ(metadata["process_sort_index"]["args"]["sort_index"], 3);
  EXPECT_EQ(metadata["thread_name"]["args"]["name"], "lane \"1\"\n");
  EXPECT_EQ(metadata["thread_name"]["tid"], 1);
}

TEST(TraceTest, CountersCarryTheirValue) {
  const auto recorder = MakeRecorder(0);
  recorder->Counter("in flight", 7000, -8);
  const auto events = EventsOf(*recorder, "C");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["args"]["value"], -8);
  EXPECT_EQ(events[0]["ts"], 7.0);
}

TEST(TraceTest, FlowArrowsOfTwoRanksShareNameCategoryAndId) {
  const uint64_t id = ~uint64_t{0};
  const auto sender = MakeRecorder(0);
  const auto receiver = MakeRecorder(1);
  sender->FlowStart("message", 0, 1000, id);
  receiver->FlowEnd("message", 0, 2000, id);
  const Json start = EventsOf(*sender, "s").at(0);
  const Json end = EventsOf(*receiver, "f").at(0);
  for (const char* key : {"name", "cat", "id"}) EXPECT_EQ(start[key], end[key]);
  EXPECT_EQ(start["id"], "18446744073709551615");
  EXPECT_EQ(end["bp"], "e");
}

TEST(TraceTest, AFullRingKeepsTheNewestAndCountsTheRest) {
  const auto recorder = MakeRecorder(0, /*capacity=*/4);
  EXPECT_EQ(recorder->dropped(), 0u);
  for (int i = 0; i < 10; ++i) {
    recorder->Complete(std::to_string(i), "c", 0, i * 1000, i * 1000 + 1, {});
  }
  EXPECT_EQ(recorder->dropped(), 6u);
  std::string names;
  for (const Json& event : EventsOf(*recorder, "X")) {
    names += event["name"].get<std::string>();
  }
  EXPECT_EQ(names, "6789");
  EXPECT_EQ(Json::parse(recorder->ToJson())["otherData"]["dropped_events"], 6);
}

TEST(TraceTest, LongNamesAreCutBetweenCharacters) {
  const auto recorder = MakeRecorder(0);
  const size_t limit = TraceRecorder::kMaxNameBytes;
  recorder->Complete(std::string(100, 'x'), "c", 0, 0, 0, {});
  recorder->Complete(std::string(limit - 1, 'x') + "€", "c", 0, 0, 0, {});
  recorder->Complete(std::string(limit, 'y'), "c", 0, 0, 0, {});
  const auto events = EventsOf(*recorder, "X");
  EXPECT_EQ(events[0]["name"], std::string(limit, 'x'));
  EXPECT_EQ(events[1]["name"], std::string(limit - 1, 'x'));
  EXPECT_EQ(events[2]["name"], std::string(limit, 'y'));
}

TEST(TraceTest, ASpanRecordsItsScope) {
  const auto recorder = MakeRecorder(0);
  const int64_t before_ns = NowNs();
  {
    TraceSpan span(recorder.get(), "reduce", "step", 4);
    for (int i = 0; i < 5; ++i) span.Argument("bytes", i);
    EXPECT_TRUE(EventsOf(*recorder, "X").empty());
  }
  const int64_t after_ns = NowNs();
  const Json event = EventsOf(*recorder, "X").at(0);
  EXPECT_EQ(event["name"], "reduce");
  EXPECT_EQ(event["tid"], 4);
  // Times travel as microseconds; a double holds them to well below one.
  EXPECT_GE(event["ts"].get<double>() + 1, before_ns / 1e3);
  EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>() - 1,
            after_ns / 1e3);
}

TEST(TraceTest, ASpanWithoutARecorderDoesNothing) {
  TraceSpan span(nullptr, "reduce", "step", 4);
  span.Argument("bytes", 1);
}

TEST(TraceTest, ManyThreadsRecordWithoutLoss) {
  constexpr int kThreads = 4;
  constexpr int kEvents = 1000;
  const auto recorder = MakeRecorder(0, kThreads * kEvents);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &recorder] {
      for (int i = 0; i < kEvents; ++i) {
        recorder->Complete("e", "c", t, i, i + 1, {{{"i", i}}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::pair<int, int>> seen;
  for (const Json& event : EventsOf(*recorder, "X")) {
    seen.emplace(event["tid"], event["args"]["i"]);
  }
  EXPECT_EQ(seen.size(), size_t{kThreads * kEvents});
  EXPECT_EQ(recorder->dropped(), 0u);
}

TEST(TraceTest, TheWrittenFileIsTheWholeJson) {
  const auto recorder = MakeRecorder(2);
  recorder->Complete("send", "step", 0, 0, 1, {});
  const std::string path = testing::TempDir() + "/trace.2.json";
  ASSERT_TRUE(recorder->Write(path).ok());
  std::ifstream file(path);
  const Json trace = Json::parse(file);
  EXPECT_EQ(trace, Json::parse(recorder->ToJson()));
  EXPECT_EQ(trace["otherData"]["rank"], 2);
  unlink(path.c_str());
}

TEST(TraceTest, AFileThatCannotBeWrittenNamesRankAndPath) {
  const Status status = MakeRecorder(2)->Write("/absent/trace.json");
  EXPECT_NE(status.message().find("rank 2"), std::string::npos);
  EXPECT_NE(status.message().find("/absent/trace.json"), std::string::npos);
}

TEST(TraceTest, ACapacityOutOfRangeIsRefused) {
  for (size_t capacity : {size_t{0}, TraceRecorder::kMaxEvents + 1}) {
    const auto recorder = TraceRecorder::Create(1, capacity);
    ASSERT_FALSE(recorder.ok());
    EXPECT_NE(recorder.status().message().find(std::to_string(capacity)),
              std::string::npos);
  }
}

TEST(TracePathTest, RanksMustNotShareAFile) {
  EXPECT_EQ(*TracePath("t.%r.json", 3, 4), "t.3.json");
  EXPECT_EQ(*TracePath("t.%p", 0, 1), "t." + std::to_string(getpid()));
  EXPECT_FALSE(TracePath("t.%h.%p", 3, 4).ok());
  EXPECT_EQ(*TracePath("t.json", 0, 1), "t.json");
  const auto shared = TracePath("t.json", 3, 4);
  ASSERT_FALSE(shared.ok());
  EXPECT_NE(shared.status().message().find("%r"), std::string::npos);
  EXPECT_FALSE(TracePath("t.%%r", 3, 4).ok());
  EXPECT_FALSE(TracePath("t.%x", 0, 1).ok());
}

}  // namespace
}  // namespace rondo
