#include "run/message_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "base/random.h"

namespace deepgap::run {
namespace {

class Pipe {
 public:
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read_ = ends[0];
    write_ = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  int read_end() const { return read_; }
  int write_end() const { return write_; }
  void close_read() {
    if (read_ >= 0) close(read_);
    read_ = -1;
  }
  void close_write() {
    if (write_ >= 0) close(write_);
    write_ = -1;
  }
  void put(std::string_view bytes) {
    ASSERT_EQ(::write(write_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

 private:
  int read_ = -1;
  int write_ = -1;
};

constexpr Nanoseconds kSoon = std::chrono::seconds(20);  // never waited for in a test that passes

Message message_of(const char* header, std::vector<Blob> blobs = {}) {
  return make_message(nlohmann::json::parse(header), std::move(blobs));
}

std::string wire_of(const Message& message) {
  std::string wire = message.header + "\n";
  for (const auto& blob : message.blobs)
    wire.append(reinterpret_cast<const char*>(blob.bytes.data()), blob.bytes.size());
  return wire;
}

// What comes of a whole text that is followed by the end of the pipe: messages, and the first error.
struct Read {
  std::vector<Message> messages;
  std::string error;
};
Read read_all(const std::string& wire) {
  Pipe pipe;
  std::thread writer([&] {
    std::size_t done = 0;
    while (done < wire.size()) {
      const ssize_t count = ::write(pipe.write_end(), wire.data() + done, wire.size() - done);
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    pipe.close_write();
  });
  MessageReader reader(pipe.read_end());
  Read result;
  for (;;) {
    auto outcome = reader.read(kSoon);
    if (!outcome.ok()) {
      result.error = outcome.error().message();
      break;
    }
    if (outcome->status != ReadStatus::kMessage) break;
    result.messages.push_back(std::move(outcome->message));
  }
  // Lets the writer end, whatever was left.
  char rest[4096];
  fcntl(pipe.read_end(), F_SETFL, 0);
  while (::read(pipe.read_end(), rest, sizeof rest) > 0) {
  }
  writer.join();
  return result;
}

TEST(MessageStream, WritesWhatTheProtocolShows) {
  const std::vector<std::int64_t> values{1, -2};
  const Message message = message_of(R"({"id":3})", {blob_of("host_ns", values)});
  const auto header = nlohmann::json::parse(message.header);
  EXPECT_EQ(header["blobs"].dump(), R"([{"count":2,"name":"host_ns","type":"i64"}])");
  // 1 and -2 as little-endian 64-bit two's complement.
  const std::string bytes("\x01\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 16);
  EXPECT_EQ(wire_of(message), message.header + "\n" + bytes);
}

TEST(MessageStream, ComesBackWhole) {
  std::vector<std::int64_t> values(300'000);  // 2.4 MB: far more than a pipe holds
  std::iota(values.begin(), values.end(), -5);
  const Message sent = message_of(R"({"id":1,"text":"ä\n"})", {blob_of("a", values), blob_of("empty", {})});
  Pipe pipe;
  std::thread writer([&] {
    MessageWriter stream(pipe.write_end());
    EXPECT_TRUE(stream.write(sent, kSoon).ok());
    EXPECT_TRUE(stream.write(message_of(R"({"id":2})"), kSoon).ok());
    pipe.close_write();
  });
  MessageReader reader(pipe.read_end());
  auto first = reader.read(kSoon);
  auto second = reader.read(kSoon);
  auto end = reader.read(kSoon);
  writer.join();
  ASSERT_TRUE(first.ok() && second.ok() && end.ok());
  ASSERT_EQ(first->status, ReadStatus::kMessage);
  EXPECT_EQ(first->message.header, sent.header);
  ASSERT_EQ(first->message.blobs.size(), 2u);
  EXPECT_EQ(int64_values(first->message.blobs[0]), values);
  EXPECT_TRUE(first->message.blobs[1].bytes.empty());
  EXPECT_EQ(second->message.header, R"({"id":2})");
  EXPECT_EQ(end->status, ReadStatus::kEnded);
}

TEST(MessageStream, TimesOutAndGoesOnWhereItWas) {
  Pipe pipe;
  const std::vector<std::int64_t> values{7, 8};
  const std::string wire = wire_of(message_of(R"({"id":1})", {blob_of("a", values)}));
  MessageReader reader(pipe.read_end());
  for (std::size_t i = 0; i < wire.size(); ++i) {
    auto outcome = reader.read(Nanoseconds{});
    ASSERT_TRUE(outcome.ok());
    ASSERT_EQ(outcome->status, ReadStatus::kTimedOut) << "after " << i << " bytes";
    pipe.put(wire.substr(i, 1));
  }
  auto outcome = reader.read(Nanoseconds{});
  ASSERT_TRUE(outcome.ok());
  ASSERT_EQ(outcome->status, ReadStatus::kMessage);
  EXPECT_EQ(int64_values(outcome->message.blobs[0]), values);
}

TEST(MessageStream, BrokenLinesAreSentences) {
  struct Case {
    const char* wire;
    const char* sentence;
  };
  for (const Case& broken : {
           Case{"hello\n", "expected a line with one JSON object, found 'hello'"},
           Case{"[1,2]\n", "expected a line with one JSON object, found '[1,2]'"},
           Case{"\n", "expected a line with one JSON object, found ''"},
           Case{"{\"id\":1", "expected a line with its end, found the end of the pipe after '{\"id\":1'"},
           Case{"{\"id\":1}{\n", "expected a line with one JSON object, found '{\"id\":1}{'"},
           Case{"{\"a\":\"\xff\"}\n", "expected a line with one JSON object, found '{\"a\":\"\\xff\"}'"},
           Case{"{\"blobs\":3}\n", "expected 'blobs' to be a list, found another type"},
           Case{"{\"blobs\":[7]}\n", "expected a blob to have a name, a type and a whole count, found '7'"},
           Case{"{\"blobs\":[{\"name\":\"a\",\"type\":\"i65\",\"count\":1}]}\n",
                "expected a blob's type to be i64, i32, u8, f32, f64 or bytes, found 'i65'"},
           Case{"{\"blobs\":[{\"name\":\"a\",\"type\":\"i64\",\"count\":-1}]}\n",
                "expected blobs of at most 4294967296 bytes in all, found 'a' with the count -1"},
           Case{"{\"blobs\":[{\"name\":\"a\",\"type\":\"i64\",\"count\":536870913}]}\n",
                "expected blobs of at most 4294967296 bytes in all, found 'a' with the count 536870913"},
           Case{"{\"blobs\":[{\"name\":\"a\",\"type\":\"u8\",\"count\":18446744073709551615}]}\n",
                "expected blobs of at most 4294967296 bytes in all, found 'a' with the count "
                "18446744073709551615"},
           Case{"{\"blobs\":[{\"name\":\"a\",\"type\":\"i64\",\"count\":2}]}\n12345678901",
                "expected 16 bytes of the blob 'a', found the end after 11"},
       }) {
    const Read read = read_all(broken.wire);
    EXPECT_TRUE(read.messages.empty()) << broken.wire;
    EXPECT_EQ(read.error, broken.sentence);
  }
}

TEST(MessageStream, ListedGigabytesAreNotBelievedBeforeTheyCome) {
  // Would be killed for memory, or time out, if the 4 GiB were made and cleared first.
  const Read read = read_all("{\"blobs\":[{\"name\":\"a\",\"type\":\"bytes\",\"count\":4294967296}]}\nxyz");
  EXPECT_EQ(read.error, "expected 4294967296 bytes of the blob 'a', found the end after 3");
}

TEST(MessageStream, TheLongestLinePassesAndOneMoreByteDoesNot) {
  const auto line_of = [](std::size_t size) {  // with its end
    std::string line = R"({"a":")";
    line.append(size - line.size() - 3, 'x');
    return line + "\"}\n";
  };
  EXPECT_EQ(line_of(1 << 20).size(), std::size_t{1} << 20);
  EXPECT_EQ(read_all(line_of(1 << 20)).messages.size(), 1u);
  EXPECT_EQ(read_all(line_of((1 << 20) + 1)).error,
            "expected lines of at most 1048576 bytes, found a longer one");
  EXPECT_EQ(read_all(std::string(5 << 20, 'x')).error,
            "expected lines of at most 1048576 bytes, found a longer one");
}

TEST(MessageStream, EndlessBracketsAreASentence) {
  const auto nested = [](std::size_t depth) {
    return R"({"a":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}\n";
  };
  EXPECT_EQ(read_all(nested(kNestingLimit)).messages.size(), 1u);
  for (const std::size_t depth : {kNestingLimit + 1, kLineLimit / 2 - 8}) {
    const Read read = read_all(nested(depth));
    EXPECT_TRUE(read.messages.empty());
    EXPECT_NE(read.error.find("nested at most 64 deep"), std::string::npos) << read.error;
  }
  // Brackets in texts are none, and those side by side do not add up.
  const std::string many(200, '[');
  EXPECT_EQ(read_all(R"({"a":"\\\")" + many + "\"}\n").messages.size(), 1u);
  std::string side_by_side = R"({"a":[0)";
  for (int i = 0; i < 200; ++i) side_by_side += ",[]";
  EXPECT_EQ(read_all(side_by_side + "]}\n").messages.size(), 1u);
}

TEST(MessageStream, GoesOnBehindABrokenLine) {
  Pipe pipe;
  std::thread writer([&] {
    const std::string wire = "garbage\n" + std::string(3 << 20, 'y') + "\n{\"id\":5}\n";
    std::size_t done = 0;
    while (done < wire.size())
      done += static_cast<std::size_t>(::write(pipe.write_end(), wire.data() + done, wire.size() - done));
    pipe.close_write();
  });
  MessageReader reader(pipe.read_end());
  EXPECT_FALSE(reader.read(kSoon).ok());
  EXPECT_FALSE(reader.read(kSoon).ok());
  auto outcome = reader.read(kSoon);
  writer.join();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->message.header, R"({"id":5})");
}

TEST(MessageStream, NothingIsReadBehindABrokenBlobList) {
  Pipe pipe;
  pipe.put("{\"blobs\":[{\"name\":\"a\",\"type\":\"?\",\"count\":2}]}\n{\"id\":1}\n");
  MessageReader reader(pipe.read_end());
  EXPECT_FALSE(reader.read(kSoon).ok());
  EXPECT_FALSE(reader.read(kSoon).ok());
}

TEST(MessageStream, AClosedReaderIsAnErrorAndNoSignal) {
  Pipe pipe;
  pipe.close_read();
  MessageWriter writer(pipe.write_end());
  const auto written = writer.write(message_of(R"({"id":1})"), kSoon);
  ASSERT_FALSE(written.ok());  // and the process is still here: SIGPIPE would have ended it
  EXPECT_EQ(written.error().message(),
            "expected the other side to read this message, found that it has closed its pipe");
}

TEST(MessageStream, AReaderThatDoesNotReadTimesTheWriterOut) {
  Pipe pipe;
  MessageWriter writer(pipe.write_end());
  const std::vector<std::int64_t> values(100'000);
  const auto written =
      writer.write(message_of(R"({"id":1})", {blob_of("a", values)}), std::chrono::milliseconds(20));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message(),
            "expected the other side to read this message within 20 ms, found that it did not");
}

TEST(MessageStream, TooLongAHeaderIsNotSent) {
  Pipe pipe;
  MessageWriter writer(pipe.write_end());
  EXPECT_FALSE(writer.write({std::string(kLineLimit, 'x'), {}}, kSoon).ok());
  pipe.close_write();
  char byte;
  EXPECT_EQ(::read(pipe.read_end(), &byte, 1), 0);
}

// Whatever comes, reading ends, and says something or gives messages that are objects.
TEST(MessageStream, SurvivesBrokenBytes) {
  const std::vector<std::int64_t> values{1, 2, 3, 4};
  const std::string good =
      wire_of(message_of(R"({"id":1,"ok":true})", {blob_of("a", values), blob_of("b", values)})) +
      wire_of(message_of(R"({"event":"progress","id":1})"));
  Random random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string wire = good;
    const auto changes = 1 + random.below(4);
    for (std::uint64_t change = 0; change < changes && !wire.empty(); ++change) {
      const auto at = static_cast<std::size_t>(random.below(wire.size()));
      switch (random.below(4)) {
        case 0:
          wire[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          wire.erase(at, 1 + static_cast<std::size_t>(random.below(9)));
          break;
        case 2:
          wire.insert(at, 1, static_cast<char>(random.below(256)));
          break;
        default:
          wire.resize(at + 1);
          break;
      }
    }
    const Read read = read_all(wire);
    EXPECT_LE(read.messages.size(), 8u);
    for (const auto& message : read.messages) EXPECT_TRUE(nlohmann::json::parse(message.header).is_object());
    EXPECT_TRUE(!read.messages.empty() || !read.error.empty() || wire.empty());
  }
}

}  // namespace
}  // namespace deepgap::run
