#include "run/json_fields.h"

#include <gtest/gtest.h>

namespace deepgap::run {
namespace {

using nlohmann::json;

TEST(Fields, ReadsMembersOfTheirTypes) {
  const json object =
      json::parse(R"({"n":-3,"x":1.5,"b":true,"t":"hi","ts":["a","b"],"ns":[1,2],"o":{"n":1},"null":null})");
  Fields fields(object, "reply");
  EXPECT_EQ(fields.integer("n"), -3);
  EXPECT_EQ(fields.number("x"), 1.5);
  EXPECT_EQ(fields.number("n"), -3);  // a whole number is a number too
  EXPECT_TRUE(fields.boolean("b"));
  EXPECT_EQ(fields.text("t"), "hi");
  EXPECT_EQ(fields.texts("ts"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fields.integers("ns"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(fields.optional_integer("absent").has_value());
  EXPECT_FALSE(fields.optional_text("null").has_value());
  EXPECT_EQ(fields.object("o").size(), 1u);
  EXPECT_TRUE(fields.optional_list("absent").empty());
  EXPECT_TRUE(fields.ok());
}

TEST(Fields, KeepsTheFirstErrorAndNamesTheMember) {
  const json object = json::parse(R"({"n":1.5,"t":7})");
  Fields fields(object, "reply to 'load'");
  EXPECT_EQ(fields.integer("n"), 0);
  EXPECT_EQ(fields.text("t"), "");
  ASSERT_FALSE(fields.ok());
  EXPECT_EQ(fields.error()->message(), "reply to 'load': expected 'n' to be a whole number, found '1.5'");
}

TEST(Fields, MissingAndNullAreSaid) {
  const json object = json::parse(R"({"n":null})");
  Fields missing(object, "reply"), null(object, "reply");
  (void)missing.integer("m");
  (void)null.integer("n");
  EXPECT_EQ(missing.error()->message(), "reply: expected 'm', a whole number, found none");
  EXPECT_EQ(null.error()->message(), "reply: expected 'n', a whole number, found null");
}

TEST(Fields, WholeNumbersThatDoNotFitAreErrors) {
  const json object =
      json::parse(R"({"big":9223372036854775808,"most":9223372036854775807,"int":2147483648})");
  Fields fits(object, "x"), too_big(object, "x"), not_int(object, "x");
  EXPECT_EQ(fits.integer("most"), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(fits.ok());
  (void)too_big.integer("big");
  EXPECT_FALSE(too_big.ok());
  (void)not_int.small_integer("int");
  EXPECT_FALSE(not_int.ok());
}

TEST(Fields, AdoptsErrorsOfEntries) {
  const json object = json::parse(R"({"rows":[{"name":"a"},{"name":3}],"odd":[1]})");
  Fields fields(object, "reply");
  std::vector<std::string> names;
  fields.each("rows", true, [&](Fields& row) { names.push_back(row.text("name")); });
  EXPECT_EQ(names.size(), 2u);
  ASSERT_FALSE(fields.ok());
  EXPECT_EQ(fields.error()->message(), "reply, 'rows': expected 'name' to be text, found '3'");
  Fields other(object, "reply");
  other.each("odd", true, [](Fields&) {});
  EXPECT_FALSE(other.ok());
}

TEST(Fields, AnythingButAnObjectHasNoMembers) {
  const json list = json::parse("[1,2]");
  Fields fields(list, "reply");
  EXPECT_FALSE(fields.optional_integer("n").has_value());
  EXPECT_TRUE(fields.ok());
  (void)fields.integer("n");
  EXPECT_FALSE(fields.ok());
}

TEST(Fields, ShowsHostileTextHarmlessly) {
  const json object = {{"n", "\x1b[2J"}};
  Fields fields(object, "reply");
  (void)fields.integer("n");
  EXPECT_EQ(fields.error()->message().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace deepgap::run
