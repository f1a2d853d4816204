#include "trace/unpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "trace/byte_source.h"
#include "trace/csv.h"

namespace deepgap::trace {
namespace {

using ::testing::HasSubstr;

// Not periodic, so that the packed text is long too.
std::string text_of(std::size_t size) {
  std::string text;
  for (std::uint32_t i = 1; text.size() < size; i = i * 1664525 + 1013904223) text += std::to_string(i) + ",";
  text.resize(size);
  return text;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

struct Unpacked {
  std::string text;
  std::optional<std::string> fault;
};

class UnpackTest : public testing::Test {
 protected:
  Unpacked read(const std::string& bytes, std::size_t piece = 5000) {
    const std::string path = folder_.path() + "/file";
    std::ofstream(path, std::ios::binary) << bytes;
    Result<ByteSource> source = ByteSource::open(path);
    EXPECT_TRUE(source.ok());
    EXPECT_EQ(source->size(), static_cast<std::int64_t>(bytes.size()));
    Unpacked found;
    std::string buffer(piece, '\0');
    for (;;) {
      const Result<std::size_t> count = source->read(buffer);
      EXPECT_TRUE(count.ok());
      if (*count == 0) break;
      found.text.append(buffer, 0, *count);
    }
    found.fault = source->fault();
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(UnpackTest, GivesWhatWasPacked) {
  for (const std::size_t size : {0U, 1U, 65535U, 65536U, 65537U, 1'000'000U}) {
    const std::string text = text_of(size);
    for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
      for (const std::size_t piece : {1000U, 65536U, 3'000'000U}) {
        const Unpacked found = read(bytes, piece);
        EXPECT_EQ(found.text, text) << size;
        EXPECT_FALSE(found.fault) << *found.fault;
      }
    }
  }
  EXPECT_EQ(read(gzip(std::string(5'000'000, 'x'))).text, std::string(5'000'000, 'x'));
  EXPECT_EQ(read(zstd(std::string(5'000'000, 'x'))).text, std::string(5'000'000, 'x'));
}

TEST_F(UnpackTest, MembersFollowOneAnother) {
  const std::string a = text_of(100'000);
  EXPECT_EQ(read(gzip(a) + gzip("behind") + std::string(512, '\0')).text, a + "behind");
  EXPECT_EQ(read(zstd(a) + zstd("behind")).text, a + "behind");
}

TEST_F(UnpackTest, WhatIsCutOffGivesItsBeginningAndSaysSo) {
  const std::string text = text_of(1'000'000);
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    const Unpacked found = read(packed.substr(0, packed.size() * 2 / 3));
    EXPECT_GT(found.text.size(), 500'000U);
    EXPECT_EQ(found.text, text.substr(0, found.text.size()));
    ASSERT_TRUE(found.fault);
    EXPECT_THAT(*found.fault, HasSubstr("stream is cut off"));
  }
  EXPECT_THAT(read(gzip("x").substr(0, 5)).fault.value_or(""), HasSubstr("cut off"));
}

TEST_F(UnpackTest, DamageIsSaid) {
  std::string packed = gzip(text_of(1'000'000));
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 200; ++i) packed[i] = '\x55';
  EXPECT_THAT(read(packed).fault.value_or(""), HasSubstr("the gzip stream is damaged"));
  packed = zstd(text_of(1'000'000));
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 200; ++i) packed[i] = '\x55';
  EXPECT_THAT(read(packed).fault.value_or(""), HasSubstr("the zstd stream is damaged"));
}

// A format that needs the whole file does not take the beginning for it.
TEST_F(UnpackTest, ATableThatIsCutOffIsAnError) {
  std::string table = "a,b\n";
  for (int i = 0; i < 20'000; ++i) table += std::to_string(i) + ",1\n";
  const std::string packed = gzip(table);
  const std::string path = folder_ / "cut.csv.gz";
  std::ofstream(path, std::ios::binary) << packed.substr(0, packed.size() / 2);
  Result<ByteSource> source = ByteSource::open(path);
  CsvReader reader(*source);
  std::vector<std::string> fields;
  Result<bool> more = reader.next(fields);
  while (more.ok() && *more) more = reader.next(fields);
  ASSERT_FALSE(more.ok());
  EXPECT_THAT(more.error().message(),
              HasSubstr("the gzip stream is cut off: copy or compress the file again"));
}

}  // namespace
}  // namespace deepgap::trace
