// PNG of every color type and depth, made by the standard; JPEG as Pillow reads it; and files that are damaged.
#include "formats/images/image_file.h"

#include <cstdlib>
#include <cstring>

#include "formats/formats_for_tests.h"
#include "formats/images/cases_for_tests.h"

namespace tenfold::formats {
namespace {

// The largest difference of two levels; 256 for pictures of two sizes.
int distance(const Pixels& pixels, const ImageCase& one) {
  const std::string expected = bytes_of(one.pixels);
  if (pixels.width != one.width || pixels.height != one.height || pixels.channels != 3) return 256;
  if (pixels.values.size() != expected.size()) return 256;
  int max = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    max = std::max(max, std::abs(pixels.values[i] - static_cast<unsigned char>(expected[i])));
  return max;
}

std::string refused(const std::string& bytes) {
  return refusal([&] { decode_image(bytes); });
}

TEST(ImageFile, PngOfEveryColorTypeAndDepth) {
  for (const ImageCase& one : kPngs) EXPECT_EQ(distance(decode_image(bytes_of(one.file)), one), 0) << one.name;
}

std::vector<std::uint16_t> deep_levels(const char* base64) {
  const std::string bytes = bytes_of(base64);
  std::vector<std::uint16_t> levels(bytes.size() / 2);
  std::memcpy(levels.data(), bytes.data(), bytes.size());
  return levels;
}

TEST(ImageFile, SixteenBitsAreKeptWhereTheyAreAskedFor) {
  for (const ImageCase& one : kDeepPngs) {
    const std::string file = bytes_of(one.file);
    const Pixels deep = decode_image(file, Depth::as_in_file), eight = decode_image(file);
    EXPECT_EQ(deep.width, one.width);
    EXPECT_TRUE(deep.values.empty() && eight.deep.empty());
    EXPECT_EQ(deep.deep, deep_levels(one.pixels)) << one.name;
    ASSERT_EQ(eight.values.size(), deep.deep.size());
    for (std::size_t i = 0; i < deep.deep.size(); ++i) EXPECT_EQ(eight.values[i], (deep.deep[i] + 128) / 257) << one.name;
    std::string with_gamma = file;
    with_gamma.insert(33, std::string("\0\0\0\x04gAMA\0\x01\x86\xA0\x31\xE8\x96\x5F", 16));
    EXPECT_EQ(decode_image(with_gamma, Depth::as_in_file).deep, deep.deep) << one.name;
    EXPECT_THROW(decode_image(file.substr(0, file.size() - 20), Depth::as_in_file), BrokenImage);
  }
  for (const ImageCase& one : kPngs)  // 8 bits and fewer stay so, and what has alpha
    if (const Pixels pixels = decode_image(bytes_of(one.file), Depth::as_in_file); !pixels.is_deep()) {
      EXPECT_EQ(distance(pixels, one), 0) << one.name;
    } else {
      EXPECT_NE(std::string(one.name).find("16 bits"), std::string::npos) << one.name;
    }
}

TEST(ImageFile, JpegAsPillowReadsIt) {
  for (const ImageCase& one : kJpegs) EXPECT_LE(distance(decode_image(bytes_of(one.file)), one), 2) << one.name;
}

TEST(ImageFile, WhatPngSaysOfBrightnessChangesNoLevel) {
  const ImageCase& colors = kPngs[5];
  std::string file = bytes_of(colors.file);
  const std::string gamma("\0\0\0\x04gAMA\0\x01\x86\xA0\x31\xE8\x96\x5F", 16);   // 1.0: linear light
  file.insert(33, gamma);                                                        // behind IHDR
  EXPECT_EQ(distance(decode_image(file), colors), 0);
}

TEST(ImageFile, FirstBytesSayTheFormAndNamesDoNot) {
  const Folder folder;
  EXPECT_EQ(distance(read_image(folder.write("a.jpg", bytes_of(kPngs[0].file))), kPngs[0]), 0);
  EXPECT_TRUE(is_image_name("a.JPEG") && is_image_name("b/c.png") && !is_image_name("png") && !is_image_name("a.png.npy"));
  EXPECT_TRUE(says(refusal([&] { read_image(folder / "none.png"); }), "none.png"));
  EXPECT_TRUE(says(refused(""), "it is empty"));
  EXPECT_TRUE(says(refused("GIF89a..."), "neither BMP, JPEG"));
  EXPECT_TRUE(says(refused(bytes_of(kCmyk)), "CMYK"));
}

TEST(ImageFile, FilesThatAreCutAreRefused) {
  for (const ImageCase& one : kPngs) {
    const std::string file = bytes_of(one.file);
    for (std::size_t length = 0; length + 12 < file.size(); ++length)   // without IEND all pixels are there
      EXPECT_THROW(decode_image(file.substr(0, length)), BrokenImage) << one.name << length;
  }
  for (const ImageCase& one : kJpegs) {
    const std::string file = bytes_of(one.file);
    for (std::size_t length = 0; length + 2 < file.size(); ++length)
      EXPECT_THROW(decode_image(file.substr(0, length)), BrokenImage) << one.name << length;
  }
}

TEST(ImageFile, DecodersBearBytesOfAnyLength) {
  for (const char* bytes : {"", "\x89", "\x89PNG\r\n\x1A\n", "\x89PNG\r\n\x1A\n\xFF\xFF\xFF\xFFIHDR"})
    EXPECT_THROW(images::decode_png(bytes), BrokenImage);
  for (const char* bytes : {"", "\xFF", "\xFF\xD8", "\xFF\xD8\xFF\xC0"}) EXPECT_THROW(images::decode_jpeg(bytes), BrokenImage);
}

TEST(ImageFile, EveryDamagedByteIsBorneOrRefused) {
  for (const ImageCase* cases : {kPngs, kJpegs})
    for (int i = 0; i < 4; ++i) {
      std::string file = bytes_of(cases[i].file);
      for (char& byte : file) {
        byte = static_cast<char>(byte ^ 0xFF);
        try {
          const Pixels pixels = decode_image(file);
          EXPECT_EQ(pixels.values.size(), static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height) * 3);
        } catch (const BrokenImage&) {
        }
        byte = static_cast<char>(byte ^ 0xFF);
      }
    }
}

TEST(ImageFile, SizesBeyondAnyPhotographTakeNoMemory) {
  EXPECT_NO_THROW(expect_size(1 << 13, 1 << 13));
  EXPECT_TRUE(says(refusal([] { expect_size((1 << 13) + 1, 1 << 13); }), "8193 x 8192 pixels, more than 2^26"));
  EXPECT_TRUE(says(refusal([] { expect_size(std::int64_t{1} << 62, std::int64_t{1} << 62); }), "more than 2^26"));
  EXPECT_TRUE(says(refusal([] { room_for(0, 5); }), "it has no pixels"));
  EXPECT_THROW(room_for(-1, 5), BrokenImage);
}

TEST(ImageFile, LuminanceIsPillows) {
  const std::string source = bytes_of(kSource), gray = bytes_of(kGray);
  const Pixels pixels{9, 7, 3, {source.begin(), source.end()}};
  const Pixels got = luminance(pixels);
  EXPECT_EQ(got.channels, 1);
  EXPECT_EQ(std::string(got.values.begin(), got.values.end()), gray);
  const Pixels deep{2, 1, 3, {}, {65535, 65535, 65535, 1000, 20000, 60000}};
  EXPECT_EQ(luminance(deep).deep, (std::vector<std::uint16_t>{65535, 18879}));  // 0.299, 0.587, 0.114
}

}  // namespace
}  // namespace tenfold::formats
