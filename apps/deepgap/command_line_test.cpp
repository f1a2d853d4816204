#include "command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file_system.h"

namespace deepgap::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<ParsedCommandLine> parse(std::vector<std::string> arguments) {
  return parse_command_line(arguments);
}

TEST(CommandLine, OptionsArriveUnderTheNamesOfTheTable) {
  const auto parsed = parse({"run", "resnet18,resnet50", "--batch", "1,4", "--dim", "seq=128", "--dim", "w=3",
                             "-o", "x.json", "--dry-run"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  ASSERT_NE(parsed->command, nullptr);
  EXPECT_EQ(parsed->command->name, "run");
  const Arguments& arguments = parsed->arguments;
  EXPECT_THAT(*arguments.list("MODEL"), ElementsAre("resnet18", "resnet50"));
  EXPECT_THAT(*arguments.integers("--batch", 1), ElementsAre(1, 4));
  EXPECT_THAT(arguments.texts("--dim"), ElementsAre("seq=128", "w=3"));
  EXPECT_EQ(arguments.text("--output"), "x.json");
  EXPECT_TRUE(arguments.has("--dry-run"));
  EXPECT_FALSE(arguments.has("--resume"));
}

TEST(CommandLine, UnknownWordsSuggestTheNearest) {
  const auto verb = parse({"lst"});
  ASSERT_FALSE(verb.ok());
  EXPECT_EQ(verb.error().kind(), ErrorKind::kUsage);
  EXPECT_THAT(verb.error().message(), HasSubstr("did you mean 'list'?"));
  const auto option = parse({"run", "resnet18", "--precison=fp32"});
  ASSERT_FALSE(option.ok());
  EXPECT_THAT(option.error().message(), HasSubstr("did you mean '--precision'?"));
}

TEST(CommandLine, TooManyWordsAndUnknownVerbsAreSaidInOurWords) {
  const auto two = parse({"show", "a", "b"});
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().message(), HasSubstr("SUBJECT: expected at most 1, found 2"));
  // Not the page of help for all verbs, as if nothing were wrong.
  EXPECT_FALSE(parse({"shwo", "--help"}).ok());
  EXPECT_THAT(parse({"list", "--help"})->message, ::testing::Not(HasSubstr("--db FILE ...")));
}

TEST(CommandLine, HelpAndVersionAreAnswersOfTheirOwn) {
  EXPECT_THAT(parse({"--help"})->message, HasSubstr("Exit codes"));
  EXPECT_THAT(parse({"--version"})->message, HasSubstr("deepgap "));
  EXPECT_THAT(parse({"run", "--help"})->message, HasSubstr("--precision"));
  EXPECT_THAT(parse({})->message, HasSubstr("Usage"));
}

TEST(CommandLine, AnOptionGivenTwiceIsAnError) {
  EXPECT_FALSE(parse({"run", "x", "--batch", "1", "--batch", "2"}).ok());
}

TEST(CommandLine, AnArgumentThatIsMissingIsAnError) {
  EXPECT_FALSE(parse({"show"}).ok());
}

TEST(Arguments, ValuesAreReadWithErrorsThatNameTheOption) {
  Arguments arguments;
  arguments.set("--time-limit", {"5"});
  arguments.set("--target", {"2%"});
  arguments.set("--batch", {"1,,2"});
  arguments.set("--dim", {"seq=1", "seq=2"});
  EXPECT_THAT(arguments.duration("--time-limit").error().message(), HasSubstr("--time-limit"));
  EXPECT_DOUBLE_EQ(**arguments.share("--target"), 0.02);
  EXPECT_THAT(arguments.integers("--batch", 1).error().message(), HasSubstr("found an empty one in '1,,2'"));
  EXPECT_THAT(arguments.pairs("--dim").error().message(), HasSubstr("'seq' is given twice"));
  EXPECT_FALSE(arguments.integer("--seed", 0)->has_value());
  for (const char* text : {"0", "-1", "100%", "1", "x", "", "nan", "inf"}) {
    arguments.set("--target", {text});
    EXPECT_FALSE(arguments.share("--target").ok()) << text;
  }
}

TEST(Arguments, PairsAreSplitAtTheFirstOrTheLastEqualsSign) {
  using Pair = std::pair<const std::string, std::string>;
  Arguments arguments;
  arguments.set("--dim", {"a=b=128", "=c=1"});
  EXPECT_THAT(*arguments.pairs("--dim", Arguments::SplitAt::kLast),
              ElementsAre(Pair("=c", "1"), Pair("a=b", "128")));
  arguments.set("--set", {"a=b=128"});
  EXPECT_THAT(*arguments.pairs("--set"), ElementsAre(Pair("a", "b=128")));
  for (const char* text : {"a", "=1"}) {
    arguments.set("--dim", {text});
    EXPECT_FALSE(arguments.pairs("--dim", Arguments::SplitAt::kLast).ok()) << text;
  }
}

// docs/cli.md is made from the tables; DEEPGAP_APPROVE=1 writes it anew.
TEST(CommandLine, TheDocumentationIsThatOfTheTables) {
  const std::string path = DEEPGAP_SOURCE_FOLDER "/docs/cli.md";
  const std::string made = command_line_markdown();
  if (std::getenv("DEEPGAP_APPROVE") != nullptr) {
    ASSERT_TRUE(write_file_atomically(path, made).ok());
  }
  const Result<std::string> read = RootedFileSystem().read(path);
  ASSERT_TRUE(read.ok()) << read.error().message() << "; run the tests once with DEEPGAP_APPROVE=1";
  EXPECT_EQ(*read, made) << "run the tests once with DEEPGAP_APPROVE=1";
}

TEST(CommandLine, EveryVerbSaysWhatItIsAndWhatItTakes) {
  for (const CommandSpec* command : all_commands()) {
    EXPECT_FALSE(command->summary.empty()) << command->name;
    for (const OptionSpec& option : command->options)
      EXPECT_FALSE(option.help.empty()) << command->name << option.name;
    for (const std::string_view example : command->examples) {
      EXPECT_THAT(std::string(example), HasSubstr("deepgap " + std::string(command->name)));
    }
  }
}

}  // namespace
}  // namespace deepgap::app
