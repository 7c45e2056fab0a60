// The backend in a server that is none: what it answers, what it reports, and what it says of wrong configurations and
// requests.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "backend_case_for_tests.h"
#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold::triton {
namespace {

using namespace onnx_import;

constexpr std::int64_t kIn = 6, kOut = 4;
float weight(std::int64_t i, std::int64_t o) { return static_cast<float>((i * 7 + o * 3) % 11 - 5) / 8; }

// y[batch,4] = tanh(x[batch,6] w)
onnx::ModelProto tanh_model() {
  onnx::ModelProto m = new_model();
  add_input(*m.graph, "x", {"batch", "6"});
  std::vector<float> w;
  for (std::int64_t i = 0; i < kIn; ++i)
    for (std::int64_t o = 0; o < kOut; ++o) w.push_back(weight(i, o));
  m.graph->initializer.push_back(floats("w", {kIn, kOut}, w));
  add_node(*m.graph, "MatMul", {"x", "w"}, {"p"});
  add_node(*m.graph, "Tanh", {"p"}, {"y"});
  add_output(*m.graph, "y");
  return m;
}

std::vector<float> rows_of(std::int64_t rows, int seed) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < rows * kIn; ++i) x.push_back(static_cast<float>((i * 5 + seed * 3) % 13 - 6) / 7);
  return x;
}
// The largest distance from the formula.
double distance(const std::vector<float>& x, const FakeOutput& y) {
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / kIn;
  const std::vector<float> values = values_of<float>(y.bytes);
  if (y.shape != std::vector<std::int64_t>{rows, kOut} || static_cast<std::int64_t>(values.size()) != rows * kOut) return 1e9;
  double worst = 0;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t o = 0; o < kOut; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < kIn; ++i) sum += static_cast<double>(x[static_cast<std::size_t>(r * kIn + i)]) * weight(i, o);
      worst = std::max(worst, std::abs(std::tanh(sum) - values[static_cast<std::size_t>(r * kOut + o)]));
    }
  return worst;
}

FakeRequest request_of(std::int64_t rows, int seed) {
  FakeRequest request;
  request.inputs = {{"x", kTritonFp32, {rows, kIn}, {bytes_of(rows_of(rows, seed))}}};
  request.outputs = {"y"};
  return request;
}

TEST_F(TritonBackend, RequestsOfABatchGetTheirOwnRows) {
  save(tanh_model());
  configure(batching(8));
  ASSERT_EQ(load(), "");
  FakeInstance& on = instance();
  FakeRequest a = request_of(1, 1), b = request_of(3, 2), c = request_of(2, 3);
  b.inputs[0].buffers = {b.inputs[0].buffers[0].substr(0, 5), b.inputs[0].buffers[0].substr(5)};   // in pieces
  execute(on, {&a, &b, &c});
  EXPECT_LT(distance(rows_of(1, 1), *a.answer.at("y")), 1e-5);
  EXPECT_LT(distance(rows_of(3, 2), *b.answer.at("y")), 1e-5);
  EXPECT_LT(distance(rows_of(2, 3), *c.answer.at("y")), 1e-5);
  ASSERT_EQ(on.batches.size(), 1u);
  EXPECT_EQ(on.batches[0].first, 6u);
  EXPECT_TRUE(std::is_sorted(on.batches[0].second.begin(), on.batches[0].second.end()));
  // Alone, read and written where it lies; then in a batch again.
  FakeRequest alone = request_of(1, 4), d = request_of(4, 5), e = request_of(4, 6), f = request_of(1, 7);
  execute(on, {&alone});
  EXPECT_LT(distance(rows_of(1, 4), *alone.answer.at("y")), 1e-5);
  execute(on, {&d, &e, &f});
  EXPECT_LT(distance(rows_of(4, 5), *d.answer.at("y")), 1e-5);
  EXPECT_LT(distance(rows_of(4, 6), *e.answer.at("y")), 1e-5);
  EXPECT_LT(distance(rows_of(1, 7), *f.answer.at("y")), 1e-5);
  ASSERT_EQ(on.batches.size(), 4u) << "nine rows are more than one batch has";
}

TEST_F(TritonBackend, AWrongRequestFailsAlone) {
  save(tanh_model());
  configure(batching(8));
  ASSERT_EQ(load(), "");
  FakeInstance& on = instance();
  FakeRequest good = request_of(2, 1), missing = request_of(1, 2), shape = request_of(1, 3);
  FakeRequest type = request_of(1, 4), cut = request_of(1, 5);
  FakeRequest left = request_of(1, 6), no_memory = request_of(1, 7), unknown = request_of(1, 8), large = request_of(9, 9);
  missing.inputs.clear();
  shape.inputs[0].shape = {1, 5};
  type.inputs[0].type = kTritonInt32;
  cut.inputs[0].buffers[0].pop_back();
  left.cancelled = true;
  no_memory.refuses_outputs = true;
  unknown.inputs[0].name = "z";
  execute(on, {&missing, &good, &shape, &type, &cut, &left, &no_memory, &unknown, &large});
  EXPECT_EQ(good.error, -1) << good.message;
  EXPECT_LT(distance(rows_of(2, 1), *good.answer.at("y")), 1e-5);
  EXPECT_EQ(missing.message, "input 'x' is missing");
  EXPECT_EQ(shape.message, "input 'x' has the shape 1x5, expected batchx6");
  EXPECT_EQ(type.message, "input 'x' has the type i32, expected f32");
  EXPECT_EQ(cut.message, "input 'x' has 23 bytes, expected 24 for f32[1x6]");
  EXPECT_EQ(left.error, kTritonCancelled);
  EXPECT_TRUE(left.answer.empty());
  EXPECT_EQ(no_memory.message, "no memory for outputs");
  EXPECT_EQ(unknown.message, "there is no input 'z'; the model has 'x'");
  EXPECT_EQ(large.message, "the request has 9 rows, expected 1 to 8");
  ASSERT_EQ(on.batches.size(), 1u);
  EXPECT_EQ(on.batches[0].first, 3u) << "those that ran";
}

// An index outside of the table is found in the run, which the others share.
TEST_F(TritonBackend, AWrongValueFailsAlone) {
  onnx::ModelProto m = new_model();
  add_input(*m.graph, "x", {"batch", "1"}, DType::i64);
  m.graph->initializer.push_back(floats("table", {3}, {10, 20, 30}));
  add_node(*m.graph, "Gather", {"table", "x"}, {"y"});
  add_output(*m.graph, "y");
  save(m);
  ASSERT_EQ(load(), "");
  FakeInstance& on = instance();
  std::vector<FakeRequest> requests(3);
  for (std::int64_t i = 0; i < 3; ++i) {
    requests[static_cast<std::size_t>(i)].inputs = {{"x", kTritonInt64, {1, 1}, {bytes_of(std::vector<std::int64_t>{i == 1 ? 99 : i})}}};
    requests[static_cast<std::size_t>(i)].outputs = {"y"};
  }
  execute(on, {&requests[0], &requests[1], &requests[2]});
  EXPECT_EQ(values_of<float>(requests[0].answer.at("y")->bytes), (std::vector<float>{10}));
  EXPECT_EQ(requests[1].error, kTritonInvalidArg);
  EXPECT_NE(requests[1].message.find("index"), std::string::npos) << requests[1].message;
  EXPECT_EQ(values_of<float>(requests[2].answer.at("y")->bytes), (std::vector<float>{30}));
}

class TritonTune : public TritonBackend, public testing::WithParamInterface<const char*> {};

TEST_P(TritonTune, RequestsOfSeveralShapesRunByShape) {
  onnx::ModelProto m = new_model();
  add_input(*m.graph, "x", {"batch", "length"});
  add_node(*m.graph, "Add", {"x", "x"}, {"y"});
  add_output(*m.graph, "y");
  save(m);
  json config = {{"max_batch_size", 4}};
  if (*GetParam()) config["parameters"]["tenfold.tune"] = {{"string_value", GetParam()}};
  configure(config);
  ASSERT_EQ(load(), "");
  EXPECT_NE(fake_log().find("input 'x' has open dims"), std::string::npos) << fake_log();
  FakeInstance& on = instance();
  std::vector<FakeRequest> requests(4);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::vector<float> x(i % 2 ? 3 : 5, static_cast<float>(i));
    requests[i].inputs = {{"x", kTritonFp32, {1, static_cast<std::int64_t>(x.size())}, {bytes_of(x)}}};
    requests[i].outputs = {"y"};
  }
  execute(on, {&requests[0], &requests[1], &requests[2], &requests[3]});
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(values_of<float>(requests[i].answer.at("y")->bytes), std::vector<float>(i % 2 ? 3 : 5, static_cast<float>(2 * i)));
  ASSERT_EQ(on.batches.size(), 2u);
  EXPECT_EQ(on.batches[0].first + on.batches[1].first, 4u);
}
INSTANTIATE_TEST_SUITE_P(All, TritonTune, testing::Values("", "now", "never", "background"));

TEST_F(TritonBackend, StringsComeAndGo) {
  onnx::ModelProto m = new_model(20);
  for (const char* name : {"a", "b"}) add_input(*m.graph, name, {"batch", "1"}, DType::string);
  add_node(*m.graph, "StringConcat", {"a", "b"}, {"y"});
  add_output(*m.graph, "y");
  save(m);
  ASSERT_EQ(load(), "");
  FakeInstance& on = instance();
  FakeRequest one, two, cut;
  one.inputs = {{"a", kTritonBytes, {1, 1}, {wire("ten")}}, {"b", kTritonBytes, {1, 1}, {wire("fold")}}};
  two.inputs = {{"a", kTritonBytes, {2, 1}, {wire("x") + wire("")}}, {"b", kTritonBytes, {2, 1}, {wire("y"), wire("z")}}};
  cut.inputs = {{"a", kTritonBytes, {1, 1}, {wire("ten").substr(0, 5)}}, {"b", kTritonBytes, {1, 1}, {wire("fold")}}};
  one.outputs = two.outputs = cut.outputs = {"y"};
  execute(on, {&one, &cut, &two});
  EXPECT_EQ(one.answer.at("y")->bytes, wire("tenfold"));
  EXPECT_EQ(two.answer.at("y")->bytes, wire("xy") + wire("z"));
  EXPECT_EQ(two.answer.at("y")->type, kTritonBytes);
  EXPECT_EQ(cut.message, "input 'a' of BYTES is cut off in element 0: each has its length in front, 4 bytes");
  FakeRequest alone = FakeRequest();
  alone.inputs = one.inputs, alone.outputs = {"y"};
  execute(on, {&alone});
  EXPECT_EQ(alone.answer.at("y")->bytes, wire("tenfold"));
}

// The vectors are those of the library's own call. A lone request of one text and a batch give the same.
TEST_F(TritonBackend, AnEncoderTakesTexts) {
  const encoders::TinyBert bert("triton_backend");
  std::filesystem::copy(bert.path, folder_ / "1", std::filesystem::copy_options::recursive);
  ASSERT_EQ(load(), "");
  const json done = json::parse(model_.completed);
  EXPECT_EQ(done["input"], json::parse(R"([{"name":"text","data_type":"TYPE_STRING","reshape":{"shape":[]},"dims":[1]}])"));
  EXPECT_EQ(done["output"], json::parse(R"([{"name":"embedding","data_type":"TYPE_FP32","dims":[8]}])"));
  FakeInstance& on = instance();
  const std::vector<std::string_view> texts = {"a b c", "d", "c c a b d"};
  const std::vector<float> expected = Encoder::load(bert.path).encode(texts);
  FakeRequest two, one, alone;
  two.inputs = {{"text", kTritonBytes, {2}, {wire("a b c") + wire("d")}}};
  one.inputs = alone.inputs = {{"text", kTritonBytes, {1, 1}, {wire("c c a b d")}}};   // as a configuration without reshape has it
  one.outputs = two.outputs = alone.outputs = {"embedding"};
  execute(on, {&two, &one});
  execute(on, {&alone});
  ASSERT_EQ(on.batches.size(), 2u);
  EXPECT_EQ(on.batches[0].first, 3u);
  const auto near = [&](const FakeRequest& request, std::size_t first, std::int64_t rows) {
    ASSERT_EQ(request.error, -1) << request.message;
    const FakeOutput& output = *request.answer.at("embedding");
    EXPECT_EQ(output.shape, (std::vector<std::int64_t>{rows, 8}));
    const std::vector<float> found = values_of<float>(output.bytes);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[first * 8 + i], 1e-5);
  };
  near(two, 0, 2), near(one, 2, 1), near(alone, 2, 1);
}

TEST_F(TritonBackend, InstancesRunAtTheSameTime) {
  save(tanh_model());
  configure(batching(8));
  ASSERT_EQ(load(), "");
  std::vector<std::thread> threads;
  std::vector<double> worst(4);
  for (std::size_t i = 0; i < worst.size(); ++i) instance();
  for (std::size_t i = 0; i < worst.size(); ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 200; ++n) {
        FakeRequest a = request_of(1 + n % 3, n), b = request_of(2, n + 1);
        if (n % 5 == 0) execute(*instances_[i], {&a});
        else execute(*instances_[i], {&a, &b});
        worst[i] = std::max(worst[i], distance(rows_of(1 + n % 3, n), *a.answer.at("y")));
        if (n % 5) worst[i] = std::max(worst[i], distance(rows_of(2, n + 1), *b.answer.at("y")));
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const double one : worst) EXPECT_LT(one, 1e-5);
}

TEST_F(TritonBackend, AnOptionalInputHasItsDefault) {
  onnx::ModelProto m = new_model();
  add_input(*m.graph, "x", {"3"});
  add_input(*m.graph, "scale", {"1"});
  m.graph->initializer.push_back(floats("scale", {1}, {2}));
  add_node(*m.graph, "Mul", {"x", "scale"}, {"y"});
  add_output(*m.graph, "y");
  save(m);
  configure({{"max_batch_size", 0},
             {"input", {{{"name", "x"}, {"data_type", "TYPE_FP32"}, {"dims", {3}}},
                        {{"name", "scale"}, {"data_type", "TYPE_FP32"}, {"dims", {1}}, {"optional", true}}}},
             {"output", {{{"name", "y"}, {"data_type", "TYPE_FP32"}, {"dims", {3}}}}}});
  ASSERT_EQ(load(), "");
  FakeInstance& on = instance();
  const FakeInput x{"x", kTritonFp32, {3}, {bytes_of(std::vector<float>{1, 2, 3})}};
  std::vector<FakeRequest> requests(3);   // without, with, without again
  for (FakeRequest& request : requests) request.inputs = {x}, request.outputs = {"y"};
  requests[1].inputs.push_back({"scale", kTritonFp32, {1}, {bytes_of(std::vector<float>{10})}});
  execute(on, {&requests[0], &requests[1], &requests[2]});
  EXPECT_EQ(values_of<float>(requests[0].answer.at("y")->bytes), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(values_of<float>(requests[1].answer.at("y")->bytes), (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(values_of<float>(requests[2].answer.at("y")->bytes), (std::vector<float>{2, 4, 6}));
}

TEST_F(TritonBackend, AConfigurationIsCompleted) {
  save(tanh_model());
  ASSERT_EQ(load(), "");
  const json done = json::parse(model_.completed);
  EXPECT_EQ(done["max_batch_size"], 4);
  EXPECT_TRUE(done.contains("dynamic_batching"));
  EXPECT_EQ(done["input"], json::parse(R"([{"name":"x","data_type":"TYPE_FP32","dims":[6]}])"));
  EXPECT_EQ(done["output"], json::parse(R"([{"name":"y","data_type":"TYPE_FP32","dims":[4]}])"));
}

TEST_F(TritonBackend, ItSaysWhyAModelIsNotBatched) {
  onnx::ModelProto m = new_model();
  add_input(*m.graph, "x", {"2", "3"});
  add_node(*m.graph, "Relu", {"x"}, {"y"});
  add_output(*m.graph, "y");
  save(m);
  ASSERT_EQ(load(), "");
  EXPECT_EQ(json::parse(model_.completed)["max_batch_size"], 0);
  EXPECT_EQ(json::parse(model_.completed)["input"][0]["dims"], json({2, 3}));
  EXPECT_NE(fake_log().find("I model 'model': requests are not batched: input 'x' has the shape 2x3, whose first dim is fixed"),
            std::string::npos) << fake_log();
  EXPECT_EQ(LoadedBackend::get().finalize(model_), "");
  model_.state = nullptr, model_.completed.clear();
  configure({{"max_batch_size", 8}});
  EXPECT_EQ(load(), "model 'model': max_batch_size is 8, but the model cannot be batched: input 'x' has the shape 2x3, whose first dim is "
                    "fixed. Configure max_batch_size: 0, or export the model with a dynamic first dim");
}

// The plan is the one that the cache keeps of the model.
TEST_F(TritonBackend, PlansAreServedUpToTheirRows) {
  save(tanh_model());
  configure(batching(3));
  ASSERT_EQ(load(), "");
  instance();
  EXPECT_EQ(LoadedBackend::get().finalize(*instances_[0]), "");
  EXPECT_EQ(LoadedBackend::get().finalize(model_), "");
  instances_.clear(), model_.state = nullptr;
  std::filesystem::remove(folder_ / "1" / "model.onnx");
  for (const auto& kept : std::filesystem::directory_iterator(folder_ / "plans"))
    if (kept.path().extension() == ".plan") std::filesystem::copy_file(kept.path(), folder_ / "1" / "model.plan");
  configure(batching(4));
  EXPECT_EQ(load(), "model 'model': the plan was built for up to 3 rows, but batches of 4 are configured: build it for a larger profile");
  configure({{"max_batch_size", 0}});
  ASSERT_EQ(load(), "");
  EXPECT_EQ(json::parse(model_.completed)["max_batch_size"], 3) << "the server's default is 4";
  FakeRequest request = request_of(2, 1), other = request_of(1, 2);
  execute(instance(), {&request, &other});
  EXPECT_LT(distance(rows_of(2, 1), *request.answer.at("y")), 1e-5);
  EXPECT_LT(distance(rows_of(1, 2), *other.answer.at("y")), 1e-5);
}

TEST_F(TritonBackend, WrongConfigurationsAreRefusedByName) {
  save(tanh_model());
  const auto refused = [&](json config, const std::string& expected) {
    configure(std::move(config));
    const std::string error = load();
    EXPECT_NE(error.find(expected), std::string::npos) << error;
    EXPECT_EQ(error.find("model 'model': "), 0u) << error;
  };
  const auto parameter = [&](const std::string& name, const std::string& value) {
    json config = batching(8);
    config["parameters"][name] = {{"string_value", value}};
    return config;
  };
  refused(parameter("tenfold.precison", "fp16"), "there is no parameter 'tenfold.precison'; did you mean 'tenfold.precision'?");
  refused(parameter("tenfold.precision", "int4"), "parameter 'tenfold.precision' is 'int4', expected fp32, tf32");
  refused(parameter("tenfold.pack_tokens", "yes"), "parameter 'tenfold.pack_tokens' is 'yes', expected no, where_equal or with_zeros");
  refused(parameter("tenfold.threads", "-1"), "parameter 'tenfold.threads' is '-1', expected a number from 1 to 256");
  refused(parameter("tenfold.tune", "later"), "parameter 'tenfold.tune' is 'later', expected now, background or never");
  refused(parameter("tenfold.device", "tpu"), "parameter 'tenfold.device' is 'tpu', expected cpu or cuda:N");
  refused(parameter("tenfold.profiles", "x=1x6"), "parameter 'tenfold.profiles' is 'x=1x6', expected INPUT:");
  json config = batching(8);
  config["input"][0]["data_type"] = "TYPE_INT32";
  refused(config, "'x' is configured as TYPE_INT32, but the model has f32: configure data_type: TYPE_FP32");
  config = batching(8);
  config["input"][0]["dims"] = {7};
  refused(config, "input 'x' of the model has the shape batchx6, but ?x7 is configured: dim 1 must be 6");
  config = batching(8);
  config["output"][0]["name"] = "z";
  refused(config, "output 'z' of the configuration is not in the model, whose outputs are 'y'");
  config = batching(8);
  config["output"][0]["dims"] = {5};
  refused(config, "output 'y' is configured with 1 dims [5] behind the batch dim, but the model has the shape [-1x4]");
  config = batching(8);
  config["sequence_batching"] = {{"max_sequence_idle_microseconds", 1}};
  refused(config, "field 'sequence_batching' is not supported by the backend 'tenfold'");
  config = batching(8);
  config["input"][0]["allow_ragged_batch"] = true;
  refused(config, "field 'input 'x': allow_ragged_batch' is not supported");
  config = batching(8);
  config["default_model_filename"] = "other.onnx";
  refused(config, "default_model_filename is 'other.onnx', but ");
}

TEST_F(TritonBackend, InstancesOfAMissingGpuRunOnTheCpu) {
  save(tanh_model());
  configure(batching(2));
  ASSERT_EQ(load(), "");
  FakeInstance on{&model_, kTritonKindGpu, 77};
  ASSERT_EQ(LoadedBackend::get().initialize(on), "");
  EXPECT_NE(fake_log().find("W model 'model': device cuda:77 cannot be used, so the instance runs on the CPU: "), std::string::npos)
      << fake_log();
  FakeRequest request = request_of(2, 1);
  execute(on, {&request});
  EXPECT_LT(distance(rows_of(2, 1), *request.answer.at("y")), 1e-5);
  EXPECT_EQ(LoadedBackend::get().finalize(on), "");
}

}  // namespace
}  // namespace tenfold::triton
