// TensorRT's caches: read as its writers make them, written back byte for byte, refused where they are no such files.
#include "quant/calibration_cache.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "tenfold/error.h"

namespace tenfold::quant {
namespace {

constexpr const char* kFile =
    "TRT-8601-EntropyCalibration2\n"
    "input: 3c010a14\n"
    "(Unnamed Layer* 48) [Constant]_output: 0\n"
    "a:0: 3d23d70a\n"
    "tiny: 800000\n";

TEST(CalibrationCache, IsReadAndWrittenBackByteForByte) {
  const CalibrationCache cache = read_calibration_cache(kFile, "c");
  ASSERT_EQ(cache.scales.size(), 4u);
  EXPECT_EQ(cache.scales[0].first, "input");
  EXPECT_FLOAT_EQ(cache.scales[0].second, 0x1.021428p-7f);   // 3c010a14
  EXPECT_EQ(cache.scales[1].second, 0.f);
  EXPECT_EQ(cache.scales[2].first, "a:0");
  EXPECT_FLOAT_EQ(cache.scales[2].second, 0.04f);
  EXPECT_EQ(write_calibration_cache(cache), kFile);
  const CalibrationCache with_zeros = read_calibration_cache("TRT-7000-MinMaxCalibration\r\nx: 03c010a1\r\n", "c");
  EXPECT_EQ(with_zeros.scales, read_calibration_cache("TRT-7000-MinMaxCalibration\nx: 3c010a1", "c").scales);
}

TEST(CalibrationCache, WhatIsNoneIsRefusedWithItsLine) {
  for (const char* text : {"", "x: 3c010a14\n", "TRT-x-EntropyCalibration2\n", "TRT-7000-Weights\n",
                           "TRT-7000-EntropyCalibration2\nx 3c010a14\n",
                           "TRT-7000-EntropyCalibration2\nx: 3c010a14z\n", "TRT-7000-EntropyCalibration2\nx: \n",
                           "TRT-7000-EntropyCalibration2\nx: 13c010a14\n", "TRT-7000-EntropyCalibration2\nx: 7f800000\n",
                           "TRT-7000-EntropyCalibration2\nx: bc010a14\n", "TRT-7000-EntropyCalibration2\nx: 7fc00000\n",
                           "TRT-7000-EntropyCalibration2\nx: 1\nx: 1\n", "TRT-7000-EntropyCalibration2\n: 1\n"}) {
    try {
      read_calibration_cache(text, "c.cache");
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::io) << text;
      EXPECT_NE(std::string(e.what()).find("c.cache"), std::string::npos) << e.what();
    }
  }
}

TEST(CalibrationCache, MagnitudesBecomeRangesByWhatCanBeNegative) {
  const ir::Graph graph = ir::parse_graph(R"((x f32[2,4], w f32[4,4])
 a = MatMul(x, w)
 b = Relu(a)
 c = Transpose(b) perm=[1,0]
 y = MatMul(w, c)
)", ir::Registry::builtin());
  const CalibrationCache cache{"TRT-7000-EntropyCalibration2", {{"x", 0.5f}, {"a", 0.5f}, {"c", 0.5f}, {"b", 0.f}, {"other", 1.f}}};
  const Ranges ranges = ranges_of(cache, graph, {"x", "b", "c"});
  EXPECT_EQ(ranges, (Ranges{{"x", {-63.5, 63.5}}, {"c", {0, 63.5}}}));
}

TEST(CalibrationCache, KeepsMagnitudesOfRanges) {
  const CalibrationCache cache = cache_of({{"a", {-2, 1}}, {"b", {0, 3}}}, "minmax");
  EXPECT_EQ(cache.head, "TRT-101600-MinMaxCalibration");
  EXPECT_TRUE(cache_of({{"two\nlines", {0, 1}}, {"", {0, 1}}}, "mse").scales.empty()) << "the file would not be read again";
  EXPECT_FLOAT_EQ(cache.scales[0].second, 2.f / 127);
  EXPECT_FLOAT_EQ(cache.scales[1].second, 3.f / 127);
}

}  // namespace
}  // namespace tenfold::quant
