// Frames in every partition, and the codings of header values.
#include "grpc/frames.h"

#include <gtest/gtest.h>

#include "grpc/limits.h"

namespace tenfold::server::grpc {
namespace {

std::vector<std::string> read_all(FrameReader& reader) {
  std::vector<std::string> read;
  for (Frame frame; reader.next(frame);) read.push_back((frame.compressed ? "z" : "") + frame.bytes);
  return read;
}

TEST(GrpcFrames, AnyPartitionReadsTheSame) {
  const std::string bytes = write_frame("abc") + write_frame("") + write_frame(std::string(300, 'x')) + write_frame("end");
  const std::vector<std::string> expected = {"abc", "", std::string(300, 'x'), "end"};
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    FrameReader reader(1000);
    std::vector<std::string> read;
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      reader.push(std::string_view(bytes).substr(i, step));
      for (const std::string& one : read_all(reader)) read.push_back(one);
    }
    EXPECT_EQ(read, expected) << "in pieces of " << step;
    EXPECT_FALSE(reader.partial());
    EXPECT_FALSE(reader.fault());
  }
}

TEST(GrpcFrames, WhatFollowsWaits) {
  FrameReader reader(10);
  for (int i = 0; i < 3; ++i) reader.push(write_frame("a") + write_frame("b"));
  EXPECT_TRUE(reader.waiting());
  EXPECT_EQ(read_all(reader), (std::vector<std::string>{"a", "b", "a", "b", "a", "b"}));
  reader.push(write_frame("cut").substr(0, 6));
  EXPECT_FALSE(reader.waiting());
  EXPECT_TRUE(reader.partial());
}

TEST(GrpcFrames, FaultsEndIt) {
  FrameReader reader(4);
  reader.push(write_frame("four") + write_frame("five!"));
  EXPECT_EQ(read_all(reader), std::vector<std::string>{"four"});
  ASSERT_TRUE(reader.fault());
  EXPECT_EQ(reader.fault()->code, StatusCode::resource_exhausted);
  EXPECT_NE(reader.fault()->message.find("5 vs. 4"), std::string::npos) << reader.fault()->message;
  FrameReader other(4);
  other.push("\x02");
  EXPECT_FALSE(other.fault());  // the prefix is not whole yet
  other.push(std::string(4, '\0'));
  ASSERT_TRUE(other.fault());
  EXPECT_EQ(other.fault()->code, StatusCode::internal);
}

TEST(GrpcFrames, CompressedWhereThatIsSmaller) {
  const std::string text(10'000, 'a');
  FrameReader reader(20'000);
  reader.push(write_frame(text, 6) + write_frame("ab", 6));
  Frame frame;
  ASSERT_TRUE(reader.next(frame));
  EXPECT_TRUE(frame.compressed);
  bool too_long = false;
  EXPECT_EQ(inflate(frame.bytes, text.size(), too_long), text);
  EXPECT_EQ(inflate(frame.bytes, text.size() - 1, too_long), std::nullopt);
  EXPECT_TRUE(too_long);
  EXPECT_EQ(inflate(frame.bytes + "x", text.size(), too_long), std::nullopt);  // bytes behind the end
  EXPECT_EQ(inflate(std::string_view(frame.bytes).substr(0, 20), text.size(), too_long), std::nullopt);
  EXPECT_FALSE(too_long);
  ASSERT_TRUE(reader.next(frame));
  EXPECT_FALSE(frame.compressed);
  EXPECT_EQ(frame.bytes, "ab");
}

TEST(GrpcFrames, PercentEncoding) {
  EXPECT_EQ(percent_encode("plain ~!"), "plain ~!");
  EXPECT_EQ(percent_encode("100%"), "100%25");
  EXPECT_EQ(percent_encode("a\n\x7f"), "a%0A%7F");
  EXPECT_EQ(percent_encode("\xc3\xbc"), "%C3%BC");
  EXPECT_EQ(percent_encode(std::string(1, '\0')), "%00");
}

TEST(GrpcFrames, Timeouts) {
  using namespace std::chrono;
  EXPECT_EQ(parse_timeout("100m"), nanoseconds(milliseconds(100)));
  EXPECT_EQ(parse_timeout("1H"), nanoseconds(hours(1)));
  EXPECT_EQ(parse_timeout("0n"), nanoseconds(0));
  EXPECT_EQ(parse_timeout("99999999u"), nanoseconds(microseconds(99999999)));
  ASSERT_TRUE(parse_timeout("99999999H"));
  EXPECT_GT(*parse_timeout("99999999H"), nanoseconds(hours(24 * 365 * 100)));
  for (const char* wrong : {"", "1", "m", "-1m", "1.5S", " 1S", "1s", "123456789S", "1Sx", "+1S"})
    EXPECT_FALSE(parse_timeout(wrong)) << wrong;
}

TEST(GrpcFrames, ListsOfEncodings) {
  EXPECT_TRUE(list_has("identity, deflate,gzip", "gzip"));
  EXPECT_FALSE(list_has("identity, gzip2", "gzip"));
  EXPECT_FALSE(list_has("", "gzip"));
}

TEST(GrpcLimits, BucketsRefill) {
  TokenBucket bucket(2, 10);
  const auto now = TokenBucket::Clock::now();
  EXPECT_TRUE(bucket.take(now) && bucket.take(now));
  EXPECT_FALSE(bucket.take(now));
  EXPECT_TRUE(bucket.take(now + std::chrono::milliseconds(110)));
  EXPECT_FALSE(bucket.take(now + std::chrono::milliseconds(110)));
}

TEST(GrpcLimits, BudgetIsExact) {
  ByteBudget budget(10);
  EXPECT_TRUE(budget.take(10));
  EXPECT_FALSE(budget.take(1));
  budget.give_back(4);
  EXPECT_TRUE(budget.take(4));
  EXPECT_EQ(budget.taken(), 10u);
}

}  // namespace
}  // namespace tenfold::server::grpc
