// Which parts of a model a build would take.
#include "onnx_import/model_for_tests.h"
#include "tenfold/build.h"
#include "tenfold/model_error.h"

namespace tenfold {
namespace {

namespace onnx = onnx_import::onnx;
using onnx_import::add_node;
using Nodes = std::vector<std::int64_t>;

std::vector<ModelPart> parts_of(const onnx::ModelProto& model) {
  const std::string text = serialized(model);
  const auto bytes = std::as_bytes(std::span(text));
  return model_parts(bytes, check_model(bytes, {}));
}

TEST(ModelParts, OfAModelThatIsSupported) {
  const std::vector<ModelPart> parts = parts_of(onnx_import::small_model());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(parts[0].supported);
  EXPECT_EQ(parts[0].nodes, Nodes{0});
}

TEST(ModelParts, LieAroundWhatIsNot) {
  auto model = onnx_import::small_model();
  add_node(*model.graph, "Relu", {"x"}, {"a"});
  add_node(*model.graph, "Frobnicate", {"a"}, {"b"});
  add_node(*model.graph, "Frobnicate", {"b"}, {"c"});
  add_node(*model.graph, "Tanh", {"c"}, {"d"});   // its operand has no type, it can be computed all the same
  const std::vector<ModelPart> parts = parts_of(model);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].nodes, (Nodes{0, 1}));
  EXPECT_EQ(parts[1].nodes, (Nodes{2, 3}));
  EXPECT_EQ(parts[2].nodes, Nodes{4});
  EXPECT_TRUE(parts[0].supported && !parts[1].supported && parts[2].supported);
}

TEST(ModelParts, OfAModelWhoseFrameIsWrong) {
  auto model = onnx_import::small_model();
  model.graph->initializer.push_back(onnx_import::floats("short", {3}, {1, 2}));
  const std::vector<ModelPart> parts = parts_of(model);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_FALSE(parts[0].supported);
}

TEST(ModelParts, BehindAListThatIsCutOffNothingIsSupported) {
  auto model = onnx_import::small_model();
  for (int i = 0; i < 1001; ++i) add_node(*model.graph, "Frobnicate", {"x"}, {cat("r", i)});
  add_node(*model.graph, "Relu", {"x"}, {"last"});
  const std::vector<ModelPart> parts = parts_of(model);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_TRUE(parts[0].supported);
  EXPECT_EQ(parts[1].nodes.size(), 1002u);
  EXPECT_FALSE(parts[1].supported);
}

TEST(ModelParts, RefuseAnotherModelsProblems) {
  ModelProblem problem;
  problem.node_index = 7;
  const std::string text = serialized(onnx_import::small_model());
  EXPECT_THROW(model_parts(std::as_bytes(std::span(text)), {problem}), Error);
}

// Values of initializers that the file refers to and does not have.
TEST(Initializers, MayComeFromMemory) {
  auto model = onnx_import::new_model();
  onnx_import::add_input(*model.graph, "x", {"2"});
  onnx::TensorProto& w = model.graph->initializer.emplace_back(onnx_import::floats("w", {2}, {}));
  w.data_location = 1;
  w.external_data.emplace_back().key = "location";
  w.external_data.back().value = "nowhere.bin";
  add_node(*model.graph, "Add", {"x", "w"}, {"y"});
  onnx_import::add_output(*model.graph, "y");
  const std::string text = serialized(model);
  const auto bytes = std::as_bytes(std::span(text));
  BuildConfig config;
  config.optimization_level = 0;
  EXPECT_THROW(build_bytes(bytes, config), Error);
  Tensor values(DType::f32, {2}), raw(DType::u8, {8});
  values.mutable_data<float>()[0] = 3, values.mutable_data<float>()[1] = -4;
  std::memcpy(raw.mutable_raw(), values.raw(), 8);
  Tensor x(DType::f32, {2});
  for (const Tensor& given : {values, raw}) {
    config.initializers = {{"w", given}};
    const Tensor y = build_bytes(bytes, config).create_context()->run({x})[0];
    EXPECT_EQ(y.as_double(0), 3);
    EXPECT_EQ(y.as_double(1), -4);
  }
  const auto message = [&](const char* name, Tensor given) {
    config.initializers = {{name, std::move(given)}};
    try {
      build_bytes(bytes, config);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
      return std::string(e.what());
    }
    return std::string("nothing was refused");
  };
  EXPECT_NE(message("v", values).find("the initializer 'v', which the model does not have"), std::string::npos);
  EXPECT_NE(message("w", Tensor(DType::f32, {3})).find("that type and shape, or u8[8], were expected"), std::string::npos);
}

}  // namespace
}  // namespace tenfold
