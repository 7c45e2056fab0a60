// Files with Q/DQ beside plans of the plain model with the same types and scales, placed in the graph that a build makes of it.
#include "tenfold/quantize_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "builder/builder.h"
#include "builder/precision/calibrate.h"
#include "onnx_import/model_for_tests.h"
#include "ops/cases.h"
#include "passes/pipeline.h"
#include "tenfold/bindings.h"
#include "tenfold/internal/file.h"

namespace tenfold::builder {
namespace {

using namespace onnx_import;

onnx::TensorProto random_weights(const std::string& name, const Shape& shape, std::uint64_t seed) {
  const Tensor t = ops::random_tensor(DType::f32, shape, seed, -0.2, 0.2);
  return floats(name, shape, {t.data<float>(), t.data<float>() + t.size()});
}

// A convolution with a norm behind it, one in groups, a residual, and a Gemm.
onnx::ModelProto model() {
  onnx::ModelProto m = new_model();
  onnx::GraphProto& g = *m.graph;
  add_input(g, "x", {"2", "8", "6", "6"});
  g.initializer = {random_weights("w", {8, 8, 1, 1}, 1), random_weights("b", {8}, 2), random_weights("v", {8, 4, 1, 1}, 3),
                   random_weights("k", {5, 288}, 4), floats("one", {8}, {1, 2, 1, -1, 2, 1, 3, 1}), random_weights("d", {5}, 5),
                   floats("var", {8}, {1, 2, 1, 1, 2, 1, 3, 1})};
  add_node(g, "Conv", {"x", "w", "b"}, {"c"}, "conv");
  add_node(g, "BatchNormalization", {"c", "one", "b", "b", "var"}, {"n"}, "norm");
  add_node(g, "Relu", {"n"}, {"r"}, "relu");
  add_int(add_node(g, "Conv", {"r", "v"}, {"e"}, "grouped"), "group", 2);
  add_node(g, "Add", {"e", "r"}, {"s"}, "sum");
  add_node(g, "Flatten", {"s"}, {"f"}, "flat");
  add_int(add_node(g, "Gemm", {"f", "k", "d"}, {"y"}, "gemm"), "transB", 1);
  add_output(g, "y");
  return m;
}

std::optional<InputSet> sample(int index) {
  if (index >= 60) return {};
  return InputSet{{"x", ops::random_tensor(DType::f32, {2, 8, 6, 6}, static_cast<std::uint64_t>(index) + 1)}};
}

BuildConfig calibrating() {
  BuildConfig config;
  config.optimization_level = 0;
  config.calibration = Calibration{.sample = sample, .method = "minmax"};
  return config;
}

Tensor answer(const Engine& engine, const Tensor& x) {
  return run_values(*engine.create_context(), {RuntimeValue(x)}).at(0).tensor();
}

double relative(const Tensor& got, const Tensor& expected) {
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i)
    error += std::pow(got.as_double(i) - expected.as_double(i), 2), size += std::pow(expected.as_double(i), 2);
  return std::sqrt(error / size);
}

// The plain model's plan, with Q/DQ where a build places them.
Engine plain_with(const std::string& bytes, quant::Activations activations) {
  const BuildConfig config = calibrating();
  backends::DeviceInfo device;
  device.kind = "cpu";
  ir::Graph graph = import_bytes(std::as_bytes(std::span(bytes)));
  passes::run(graph, passes::pipeline_for(device, config).rewrite);
  const quant::Placing placing{.activations = activations};
  CalibrationReport report;
  place_qdq(graph, calibrated(graph, {}, placing, config, report), placing);
  BuildConfig plain;
  plain.optimization_level = 0;
  return build_graph(graph, plain);
}

TEST(QuantizeFile, ItsPlanIsThatOfThePlainModelWithTheSameTypes) {
  const std::string bytes = serialized(model());
  const std::string folder = ::testing::TempDir(), plain = folder + "/tenfold_plain.onnx", out = folder + "/tenfold_qdq.onnx";
  write_file(plain, bytes);
  const Tensor x = ops::random_tensor(DType::f32, {2, 8, 6, 6}, 99);
  BuildConfig built;
  built.optimization_level = 0;
  const Tensor in_floats = answer(build_file(plain, built), x);
  for (const auto& [reader, activations] : {std::pair{QuantizeFor::any, quant::Activations::signed_bytes},
                                            std::pair{QuantizeFor::onnxruntime, quant::Activations::unsigned_bytes},
                                            std::pair{QuantizeFor::openvino, quant::Activations::unsigned_if_never_negative}}) {
    const QuantizeReport report = quantize_file(plain, out, calibrating(), {.reader = reader});
    EXPECT_EQ(report.quantized, 3);
    EXPECT_EQ(report.layers, 3);
    ASSERT_EQ(report.calibration.errors.size(), 1u);
    const Tensor got = answer(build_file(out, built), x);
    EXPECT_LT(relative(got, answer(plain_with(bytes, activations), x)), 1e-3);
    EXPECT_GT(relative(got, in_floats), 1e-4);
    EXPECT_LT(relative(got, in_floats), 0.05);
    EXPECT_NEAR(report.calibration.errors[0].relative_l2, relative(got, in_floats), 0.02);
  }
  std::filesystem::remove(plain), std::filesystem::remove(out);
}

}  // namespace
}  // namespace tenfold::builder
