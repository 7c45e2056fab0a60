// Pictures of seven forms as they were written, and files that are cut, damaged or claim too much.
#include "images/decode.h"

#include <gtest/gtest.h>

#include "images/cases_for_tests.h"
#include "tenfold/internal/base64.h"

namespace tenfold::images {
namespace {

std::string bytes_of(const char* base64) { return from_base64(base64).value(); }

// A decoder that is not installed says so; its tests are skipped.
bool is_readable(const ImageCase& one) {
  try {
    decode(bytes_of(one.file));
  } catch (const BrokenImage&) {
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("Debian's package is lib"), std::string::npos) << e.what();
    return false;
  }
  return true;
}

// Whether `file` is pixels or refused, and nothing else.
testing::AssertionResult is_read_or_refused(std::string_view file) {
  try {
    const Pixels pixels = decode(file);
    if (pixels.values.size() != static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height) * 3)
      return testing::AssertionFailure() << pixels.values.size() << " levels of " << pixels.width << " x " << pixels.height;
  } catch (const BrokenImage& e) {
    if (std::string(e.what()).empty()) return testing::AssertionFailure() << "no reason is given";
  }
  return testing::AssertionSuccess();
}

std::string refusal(std::string_view file) {
  try {
    decode(file);
  } catch (const BrokenImage& e) {
    return e.what();
  }
  return "";
}

TEST(Decode, EveryFormAsItWasWritten) {
  int read = 0;
  for (const ImageCase& one : kImages) {
    if (!is_readable(one)) continue;
    ++read;
    try {
      const Pixels pixels = decode(bytes_of(one.file));
      const std::string expected = bytes_of(one.pixels);
      EXPECT_EQ(pixels.width, kWidth) << one.name;
      EXPECT_EQ(pixels.height, kHeight) << one.name;
      EXPECT_EQ(std::string(pixels.values.begin(), pixels.values.end()), expected) << one.name;
    } catch (const Error& e) {
      ADD_FAILURE() << one.name << ": " << e.what();
    }
  }
  EXPECT_GE(read, 18);   // BMP and PNM need no library
}

TEST(Decode, FilesThatAreCut) {
  for (const ImageCase& one : kImages) {
    if (!is_readable(one)) continue;
    const std::string file = bytes_of(one.file);
    for (std::size_t size = 0; size < file.size(); ++size) EXPECT_TRUE(is_read_or_refused(file.substr(0, size))) << one.name << " " << size;
    EXPECT_NE(refusal(file.substr(0, file.size() / 3)), "") << one.name;
  }
}

TEST(Decode, FilesWithAWrongByte) {
  for (const ImageCase& one : kImages) {
    if (!is_readable(one)) continue;
    std::string file = bytes_of(one.file);
    for (std::size_t i = 0; i < file.size(); ++i)
      for (const int change : {0x01, 0x80, 0xFF}) {
        file[i] = static_cast<char>(file[i] ^ change);
        EXPECT_TRUE(is_read_or_refused(file)) << one.name << " byte " << i;
        file[i] = static_cast<char>(file[i] ^ change);
      }
  }
}

// Refused before memory is taken: a few bytes claim gigabytes.
TEST(Decode, SizesThatTheFileDoesNotHold) {
  using namespace std::string_literals;
  for (const char* head : {"P1", "P2", "P3", "P4", "P5", "P6"}) {
    EXPECT_NE(refusal(head + " 99999999 99999999 255\n0"s).find("more than 2^26"), std::string::npos) << head;
    EXPECT_NE(refusal(head + " 8000 8000 255\n0"s), "") << head;
    EXPECT_NE(refusal(head + " 0 8 255\n0"s).find("no pixels"), std::string::npos) << head;
    EXPECT_NE(refusal(head + " 99999999999999999999 8 255\n0"s).find("beyond all measure"), std::string::npos) << head;
    EXPECT_NE(refusal(head + " -1 8 255\n0"s).find("is no number"), std::string::npos) << head;
  }
  EXPECT_NE(refusal("P5 2 1 0\n00").find("the largest level is 0"), std::string::npos);
  EXPECT_NE(refusal("P2 2 1 3\n1 4").find("beyond 3"), std::string::npos);
  const auto bmp = [](std::uint32_t width, std::uint32_t height, std::uint32_t bits, std::uint32_t compression) {
    std::string file = "BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"s;
    for (const std::uint32_t v : {width, height, 1 | bits << 16, compression, 0u, 0u, 0u, 0u, 0u})
      for (int i = 0; i < 32; i += 8) file += static_cast<char>(v >> i);
    return file + std::string(64, '\0');
  };
  EXPECT_NE(refusal(bmp(0x7FFFFFFF, 0x7FFFFFFF, 24, 0)).find("more than 2^26"), std::string::npos);
  EXPECT_NE(refusal(bmp(8000, 8000, 24, 0)).find("in the middle of its rows"), std::string::npos);
  EXPECT_NE(refusal(bmp(8, 0x80000000, 24, 0)).find("more than 2^26"), std::string::npos);
  EXPECT_NE(refusal(bmp(0x80000000, 8, 24, 0)).find("no pixels"), std::string::npos);
  EXPECT_NE(refusal(bmp(8, 8, 13, 0)).find("13 bits a pixel"), std::string::npos);
  EXPECT_NE(refusal(bmp(8, 8, 8, 4)).find("compression 4"), std::string::npos);
}

TEST(Decode, FirstBytesSayTheForm) {
  using namespace std::string_view_literals;
  EXPECT_EQ(form_of("GIF89a"), Form::none);
  EXPECT_EQ(form_of(""), Form::none);
  EXPECT_EQ(form_of("RIFF"), Form::none);
  EXPECT_EQ(form_of("MM\0+"sv), Form::tiff);
  EXPECT_EQ(refusal(""), "it is empty");
  EXPECT_NE(refusal("GIF89a").find("neither BMP"), std::string::npos);
}

}  // namespace
}  // namespace tenfold::images
