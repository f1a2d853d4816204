#include "trace/json_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "trace/json_repair.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Read {
  std::vector<std::string> events;
  std::vector<std::int64_t> offsets;
  std::map<std::string, std::string> members;
  JsonDamage damage;
  bool has_list = false;
  std::string error;
};

class JsonEventsTest : public testing::Test {
 protected:
  Read read(const std::string& text) {
    const std::string path = folder_.path() + "/trace.json";
    std::ofstream(path, std::ios::binary) << text;
    Result<ByteSource> source = ByteSource::open(path);
    EXPECT_TRUE(source.ok());
    JsonEvents events(*source);
    Read found;
    for (;;) {
      Result<std::optional<JsonText>> event = events.next();
      if (!event.ok()) {
        found.error = event.error().message();
        break;
      }
      if (!*event) break;
      found.events.emplace_back((*event)->text);
      found.offsets.push_back((*event)->offset);
    }
    for (const char* name : {"before", "after", "a\\\"b", "traceEvents"}) {
      if (const auto member = events.member(name)) found.members.emplace(name, *member);
    }
    found.damage = events.damage();
    found.has_list = events.has_list();
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(JsonEventsTest, ListOfAnObjectWithWhatStandsBesideIt) {
  const Read found = read(R"( {"before": {"x": [1, 2]}, "traceEvents": [
    {"a": "}]{[", "b": [1, {"c": 2}]},
    {"d": "\"\\"}
  ], "after":17,"a\"b":"text"}  )");
  EXPECT_THAT(found.events, ElementsAre(R"({"a": "}]{[", "b": [1, {"c": 2}]})", R"({"d": "\"\\"})"));
  EXPECT_EQ(found.offsets[0], 48);
  EXPECT_THAT(found.members, ElementsAre(std::pair("a\\\"b", "\"text\""), std::pair("after", "17"),
                                         std::pair("before", R"({"x": [1, 2]})")));
  EXPECT_TRUE(found.has_list);
  EXPECT_FALSE(found.damage.ended_early);
  EXPECT_EQ(found.damage.lost + found.damage.stray_bytes + found.damage.trailing_bytes, 0);
}

TEST_F(JsonEventsTest, ListAlone) {
  const Read found = read("[{\"a\":1},{},\n{\"b\":2}]\n");
  EXPECT_THAT(found.events, ElementsAre("{\"a\":1}", "{}", "{\"b\":2}"));
  EXPECT_FALSE(read("[{\"a\":1},\n").damage.ended_early);  // its bracket may be left out
  EXPECT_THAT(read("[]").events, IsEmpty());
}

TEST_F(JsonEventsTest, NoListIsSaid) {
  const Read found = read(R"({"before": 1})");
  EXPECT_THAT(found.events, IsEmpty());
  EXPECT_FALSE(found.has_list);
}

// Events of every length come whole over the ends of what is read at a time.
TEST_F(JsonEventsTest, LongFilesComeInPieces) {
  std::string text = "{\"traceEvents\": [";
  std::vector<std::string> events;
  std::uint32_t seed = 1;
  while (text.size() < 3'000'000) {
    seed = seed * 1664525 + 1013904223;
    const std::size_t length = seed % 97 == 0 ? 700'000 : seed % 1000;
    events.push_back("{\"name\": \"" + std::string(length, seed % 3 == 0 ? '{' : 'x') + "\\\\\\\"\"}");
    text += (events.size() > 1 ? ",\n" : "") + events.back();
  }
  const Read found = read(text + "], \"after\": null}");
  EXPECT_EQ(found.events, events);
  EXPECT_EQ(found.members.at("after"), "null");
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(text.substr(static_cast<std::size_t>(found.offsets[i]), events[i].size()), events[i]);
  }
}

TEST_F(JsonEventsTest, CutOffLosesTheLastEvent) {
  const std::string whole = R"({"traceEvents": [{"a": 1}, {"b": "text\\", "c": {"d": 2}}], "after": 1})";
  // Behind the second event nothing is lost, but the end is missing.
  for (std::size_t size = 18; size < whole.size(); ++size) {
    const Read found = read(whole.substr(0, size));
    EXPECT_TRUE(found.damage.ended_early) << size;
    EXPECT_EQ(found.events.size() + static_cast<std::size_t>(found.damage.lost),
              size < 27 ? (size > 17 ? 1U : 0U) : (size > 27 ? 2U : 1U))
        << whole.substr(0, size);
  }
}

TEST_F(JsonEventsTest, OddThingsAreCountedAndPassedOver) {
  const Read found = read("\xEF\xBB\xBF[1, \"text\", [[{}]], {\"a\": 1},, {\"b\": 2},] {\"c\": 3} tail");
  EXPECT_THAT(found.events, ElementsAre("{\"a\": 1}", "{\"b\": 2}"));
  EXPECT_TRUE(found.damage.byte_order_mark);
  EXPECT_EQ(found.damage.no_events, 3);
  EXPECT_EQ(found.damage.trailing_commas, 1);
  EXPECT_EQ(found.damage.trailing_bytes, 13);
}

TEST_F(JsonEventsTest, AStringThatNeverEndsCostsItsEvent) {
  const Read found = read(
      "[\n{\"ph\": \"X\", \"path\": \"C:\\\\dir\\\", \"x\": 1},\n"
      "  {\"ph\": \"X\", \"name\": \"b\"},\n  { \"name\": \"c\"}\n]");
  ASSERT_GE(found.events.size(), 2U);
  EXPECT_EQ(found.events[found.events.size() - 1], "{ \"name\": \"c\"}");
  EXPECT_EQ(found.events[found.events.size() - 2], "{\"ph\": \"X\", \"name\": \"b\"}");
}

TEST_F(JsonEventsTest, HugeAndDeepValuesArePassedOver) {
  const Read found = read("[{\"a\": \"" + std::string(20'000'000, 'x') + "\"}, {\"b\": 1}, " +
                          std::string(2'000'000, '[') + std::string(2'000'000, ']') + ", {\"c\": 1}]");
  EXPECT_THAT(found.events, ElementsAre("{\"b\": 1}", "{\"c\": 1}"));
  EXPECT_EQ(found.damage.lost, 1);
  EXPECT_EQ(found.damage.no_events, 1);
  const Read members = read("{\"before\": \"" + std::string(20'000'000, 'x') + "\", \"after\": 2}");
  EXPECT_EQ(members.members.size(), 1U);
  EXPECT_EQ(members.damage.members_left_out, 1);
}

TEST_F(JsonEventsTest, WhatIsNoJsonIsASentence) {
  EXPECT_THAT(read("<html>").error,
              HasSubstr("expected JSON, an object or a list of events, found '<html>'"));
  EXPECT_THAT(read("").error, HasSubstr("found nothing"));
  EXPECT_THAT(read("  \n ").error, HasSubstr("found nothing"));
}

TEST_F(JsonEventsTest, WhatIsNoJsonInAnEventIsMarked) {
  const std::string path = folder_.path() + "/suspect.json";
  std::ofstream(path, std::ios::binary)
      << "[{\"a\": \"N I \\u0041\"}, {\"a\": \"\x01\"}, {\"a\": \"C:\\Users\"}, "
         "{\"a\": NaN}, {\"a\": -Infinity}, {\"a\": null}]";
  Result<ByteSource> source = ByteSource::open(path);
  JsonEvents events(*source);
  std::vector<bool> suspect;
  while (const std::optional<JsonText> event = events.next().value()) suspect.push_back(event->suspect);
  EXPECT_THAT(suspect, ElementsAre(false, true, true, true, true, false));
}

TEST(Repaired, PutsRightWhatProducersGetWrong) {
  EXPECT_EQ(repaired(R"({"a": "ok \n \u00e9 \\", "b": [1, -2.5e3, null]})"),
            R"({"a": "ok \n \u00e9 \\", "b": [1, -2.5e3, null]})");
  EXPECT_EQ(repaired("{\"a\": \"x\x01\ny\"}"), "{\"a\": \"x  y\"}");
  EXPECT_EQ(repaired(R"({"a": "C:\Users\me\temp\u12"})"), R"({"a": "C:\\Users\\me\temp\\u12"})");
  EXPECT_EQ(repaired(R"({"a": NaN, "b": [-Infinity, Infinity], "NaN": "NaN"})"),
            R"({"a": null, "b": [null, null], "NaN": "NaN"})");
  EXPECT_EQ(repaired("{\"a\": [1, 2 , ], }"), "{\"a\": [1, 2  ] }");
  EXPECT_EQ(repaired("{\"a\": \"\xff\xc3\xa9\"}"), "{\"a\": \"\xEF\xBF\xBD\xc3\xa9\"}");
}

}  // namespace
}  // namespace deepgap::trace
