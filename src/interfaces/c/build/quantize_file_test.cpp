// Quantized files from C: what is written, what is told, and what is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "c/build/builder.h"
#include "onnx_import/model_for_tests.h"
#include "tenfold/c_api.h"

namespace {

using namespace tenfold;
using namespace tenfold::onnx_import;

template <class T>
T sized() {
  T info{};
  info.struct_size = sizeof info;
  return info;
}

// y = (x[2,32] w) + (x v), whose second product groups of 32 divide, and whose first is excluded by name.
class CQuantizeFile : public ::testing::Test {
 protected:
  void SetUp() override {
    onnx::ModelProto m = new_model();
    onnx::GraphProto& g = *m.graph;
    add_input(g, "x", {"2", "32"});
    std::vector<float> w(32 * 3), v(32 * 3);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 7) - 3, v[i] = static_cast<float>(i % 5) - 2;
    g.initializer = {floats("w", {32, 3}, w), floats("v", {32, 3}, v)};
    add_node(g, "MatMul", {"x", "w"}, {"a"}, "first");
    add_node(g, "MatMul", {"x", "v"}, {"b"}, "second");
    add_node(g, "Add", {"a", "b"}, {"y"}, "sum");
    add_output(g, "y");
    std::ofstream(plain_, std::ios::binary) << serialized(m);
  }
  void TearDown() override { std::filesystem::remove(plain_), std::filesystem::remove(out_); }

  const std::string folder_ = ::testing::TempDir() + "/tenfold_c_" + std::to_string(::getpid());
  const std::string plain_ = folder_ + "_plain.onnx", out_ = folder_ + "_out.onnx";
};

// Every field of QuantizeOptions is reached from C: a new one does not compile until C has it.
TEST(CFields, OfAQuantizedFile) {
  const char* const left_out = "head*";
  auto c = sized<tenfold_quantize_options>();
  c.reader = TENFOLD_QUANTIZE_FOR_OPENVINO, c.type = TENFOLD_QUANTIZE_NBITS4, c.group = 64, c.reduce_range = c.external_data = 1;
  c.exclude = &left_out, c.exclude_count = 1;
  const auto& [reader, type, group, reduce_range, exclude, external_data] = c::quantize_options_of(&c);
  EXPECT_EQ(reader, QuantizeFor::openvino);
  EXPECT_EQ(type, QuantizeType::nbits4);
  EXPECT_EQ(group, 64);
  EXPECT_TRUE(reduce_range);
  EXPECT_TRUE(external_data);
  EXPECT_EQ(exclude, std::vector<std::string>{"head*"});
  EXPECT_EQ(c::quantize_options_of(nullptr).group, QuantizeOptions().group);
  c.type = 9;
  EXPECT_THROW(c::quantize_options_of(&c), Error);
}

TEST_F(CQuantizeFile, WeightsAloneNeedNoSamples) {
  const char* const left_out = "fir*";
  auto options = sized<tenfold_quantize_options>();
  options.type = TENFOLD_QUANTIZE_NBITS4, options.exclude = &left_out, options.exclude_count = 1;
  tenfold_quantize_report* report = nullptr;
  ASSERT_EQ(tenfold_quantize_file(plain_.c_str(), out_.c_str(), nullptr, &options, &report), TENFOLD_OK) << tenfold_last_error();
  auto info = sized<tenfold_quantize_info>();
  ASSERT_EQ(tenfold_quantize_report_info(report, &info), TENFOLD_OK);
  EXPECT_EQ(info.layers, 2);
  EXPECT_EQ(info.quantized, 1);
  EXPECT_EQ(info.left, 1);
  EXPECT_EQ(info.opset_after, 17);
  EXPECT_EQ(info.bytes_after, static_cast<std::int64_t>(std::filesystem::file_size(out_)));
  const char *why = nullptr, *name = nullptr;
  std::int32_t nodes = 0;
  ASSERT_EQ(tenfold_quantize_report_left(report, 0, &why, &nodes), TENFOLD_OK);
  EXPECT_STREQ(why, "they are excluded");
  ASSERT_EQ(nodes, 1);
  ASSERT_EQ(tenfold_quantize_report_left_node(report, 0, 0, &name), TENFOLD_OK);
  EXPECT_STREQ(name, "first");
  EXPECT_NE(tenfold_quantize_report_left_node(report, 0, 1, &name), TENFOLD_OK);
  EXPECT_NE(tenfold_quantize_report_left(report, 1, &why, &nodes), TENFOLD_OK);
  tenfold_quantize_report_free(report);
}

TEST_F(CQuantizeFile, SamplesGiveRangesAndTheBuildsReportTellsOfThem) {
  const std::int64_t shape[2] = {2, 32};
  std::vector<float> x(64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 9) / 4 - 1;
  tenfold_data* data = nullptr;
  ASSERT_EQ(tenfold_data_tensor("f32", shape, 2, x.data(), x.size() * 4, &data), TENFOLD_OK);
  auto calibration = sized<tenfold_calibration>();
  calibration.sample = [](void* user, std::int32_t index, tenfold_sample* one) -> std::int32_t {
    return index < 4 && tenfold_sample_set(one, "x", static_cast<tenfold_data*>(user)) == TENFOLD_OK;
  };
  calibration.sample_user = data, calibration.method = "minmax";
  auto config = sized<tenfold_build_config>();
  ASSERT_EQ(tenfold_report_create(&config.report), TENFOLD_OK);
  config.calibration = &calibration;
  ASSERT_EQ(tenfold_quantize_file(plain_.c_str(), out_.c_str(), &config, nullptr, nullptr), TENFOLD_OK) << tenfold_last_error();
  auto reported = sized<tenfold_calibration_info>();
  ASSERT_EQ(tenfold_report_calibration(config.report, &reported), TENFOLD_OK);
  EXPECT_EQ(reported.samples, 2);
  EXPECT_EQ(reported.compared, 2);
  EXPECT_EQ(reported.errors, 1);
  tenfold_report_free(config.report);
  tenfold_data_free(data);
}

TEST_F(CQuantizeFile, WhatIsWrongIsRefusedAndNothingIsWritten) {
  tenfold_quantize_report* report = nullptr;
  auto options = sized<tenfold_quantize_options>();
  EXPECT_EQ(tenfold_quantize_file(plain_.c_str(), out_.c_str(), nullptr, &options, &report), TENFOLD_INVALID_ARGUMENT);  // int8: no samples
  options.reader = 7;
  EXPECT_EQ(tenfold_quantize_file(plain_.c_str(), out_.c_str(), nullptr, &options, &report), TENFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tenfold_last_error()).find("reader is 7"), std::string::npos);
  EXPECT_EQ(tenfold_quantize_file(nullptr, out_.c_str(), nullptr, nullptr, &report), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(report, nullptr);
  EXPECT_FALSE(std::filesystem::exists(out_));
}

}  // namespace
