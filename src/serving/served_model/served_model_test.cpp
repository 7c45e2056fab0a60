// Served models without a server: which shapes they take, where outputs go, which requests run together.
#include "tenfold/serving/served_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx_import/model_for_tests.h"
#include "served_model/instance.h"

namespace tenfold {
namespace {

using namespace onnx_import;

// A request of one input x of f32, and what became of it.
class Request final : public ServedRequest {
 public:
  Request(Shape shape, std::vector<float> x) : shape_(std::move(shape)), x_(std::move(x)), piece_(std::as_bytes(std::span(x_))) {
    input_ = {"x", DType::f32, shape_, {&piece_, 1}, nullptr};
  }
  std::span<const RequestInput> inputs() const override { return {&input_, 1}; }
  CancelToken cancel_token() const override { return token; }
  void* output_memory(int, std::span<const std::int64_t> shape, std::int64_t bytes) override {
    ++outputs;
    y_shape.assign(shape.begin(), shape.end());
    y.assign(static_cast<std::size_t>(bytes), '\x7f');
    return y.data();
  }
  void take_strings(int, std::span<const std::int64_t>, std::span<const std::string>) override {}
  void finish(const RequestOutcome& outcome) noexcept override {
    ++finished;
    if (outcome.error) error = outcome.error->what();
    if (outcome.run) run = *outcome.run;
  }
  template <class T>
  std::vector<T> values() const {
    std::vector<T> result(y.size() / sizeof(T));
    if (!y.empty()) std::memcpy(result.data(), y.data(), y.size());
    return result;
  }

  CancelToken token;
  int outputs = 0, finished = 0;
  Shape y_shape;
  std::string y, error;
  BatchRun run;

 private:
  Shape shape_;
  std::vector<float> x_;
  std::span<const std::byte> piece_;
  RequestInput input_;
};

// The same of one column of strings.
class Words final : public ServedRequest {
 public:
  explicit Words(std::vector<std::string> x) : x_(std::move(x)), shape_{static_cast<std::int64_t>(x_.size()), 1} {
    input_ = {"x", DType::string, shape_, {}, &x_};
  }
  std::span<const RequestInput> inputs() const override { return {&input_, 1}; }
  void* output_memory(int, std::span<const std::int64_t>, std::int64_t) override { return nullptr; }
  void take_strings(int, std::span<const std::int64_t>, std::span<const std::string> words) override {
    y.assign(words.begin(), words.end());
  }
  void finish(const RequestOutcome& outcome) noexcept override {
    if (outcome.error) error = outcome.error->what();
  }

  std::vector<std::string> y;
  std::string error;

 private:
  std::vector<std::string> x_;
  Shape shape_;
  RequestInput input_;
};

class Served : public testing::Test {
 protected:
  void SetUp() override { options_.build.threads = 1, options_.build.optimization_level = 0; }
  void TearDown() override { std::filesystem::remove(path_); }
  std::shared_ptr<ServedModel> open(const std::string& op, const Names& dims, const Names& more = {}) {
    onnx::ModelProto m = new_model();
    add_input(*m.graph, "x", dims);
    Names inputs = {"x"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    add_node(*m.graph, op, inputs, {"y"});
    add_output(*m.graph, "y");
    std::ofstream(path_, std::ios::binary) << serialized(m);
    return open_served_model(path_, options_);
  }
  std::string refused(const Names& dims) {
    try {
      open("Relu", dims);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
  std::string path_ = testing::TempDir() + "tenfold_served_" + std::to_string(::getpid()) + ".onnx";
  ServedModelOptions options_;
};

TEST_F(Served, OptionsFixExtentsThatTheModelLeavesOpen) {
  options_.max_batch = 4, options_.input_shapes["x"] = {-1, 3};
  const auto model = open("Relu", {"batch", "length"});
  EXPECT_TRUE(model->open_inputs().empty());
  EXPECT_EQ(model->bindings()[0].shape, (Shape{-1, 3}));
  const auto instance = model->create_instance("cpu");
  Request good({2, 3}, {-1, 2, -3, 4, -5, 6}), wrong({1, 2}, {1, 2});
  ServedRequest* both[] = {&wrong, &good};
  std::vector<BatchRun> runs;
  instance->run(both, &runs);
  EXPECT_EQ(wrong.error, "input 'x' has the shape 1x2, expected batchx3");
  EXPECT_EQ(good.values<float>(), (std::vector<float>{0, 2, 0, 4, 0, 6}));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].rows, 2);
  EXPECT_GT(instance->memory_bytes(), 0);
}

TEST_F(Served, WhatTheModelForbidsIsRefused) {
  options_.max_batch = 4;
  EXPECT_EQ(refused({"2", "3"}), "the model cannot be batched (input 'x' has the shape 2x3, whose first dim is fixed), but batches of up "
                                 "to 4 rows are configured: configure 0, or export the model with a dynamic first dim");
  options_.input_shapes["x"] = {-1, 5};
  EXPECT_EQ(refused({"n", "3"}), "input 'x' of the model has the shape nx3, but ?x5 is configured: dim 1 must be 3");
  options_.input_shapes["x"] = {5};
  EXPECT_EQ(refused({"n", "3"}), "input 'x' of the model has the shape nx3, but 5 is configured: give 2 dims");
  options_.input_shapes = {{"z", {1}}};
  EXPECT_EQ(refused({"n", "3"}), "the model has no input 'z'; it has 'x'");
}

// One row and batches have kernels of their own, also where the input is strings.
TEST_F(Served, StringsAloneAndInBatches) {
  onnx::ModelProto m = new_model(20);
  add_input(*m.graph, "x", {"batch", "1"}, DType::string);
  add_node(*m.graph, "StringConcat", {"x", "x"}, {"y"});
  add_output(*m.graph, "y");
  std::ofstream(path_, std::ios::binary) << serialized(m);
  options_.max_batch = 4;
  const auto instance = open_served_model(path_, options_)->create_instance("cpu");
  for (int turn = 0; turn < 2; ++turn) {
    Words one({"a"}), two({"b", "cd"}), alone({"e"});
    ServedRequest* both[] = {&one, &two};
    std::vector<BatchRun> runs;
    instance->run(both, &runs);
    ServedRequest* last = &alone;
    instance->run({&last, 1}, &runs);
    for (const Words* request : {&one, &two, &alone}) EXPECT_EQ(request->error, "");
    EXPECT_EQ(one.y, (std::vector<std::string>{"aa"}));
    EXPECT_EQ(two.y, (std::vector<std::string>{"bb", "cdcd"}));
    EXPECT_EQ(alone.y, (std::vector<std::string>{"ee"}));
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].rows, 3);
    EXPECT_EQ(runs[1].rows, 1);
  }
}

// The count of the run before must not become the size of this one's memory.
TEST_F(Served, AnOutputSizedByDataIsAskedForAfterTheRun) {
  const auto instance = open("NonZero", {"6"})->create_instance("cpu");
  for (const std::vector<float>& x : {std::vector<float>{0, 1, 0, 2, 3, 0}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 5}}) {
    Request request({6}, x);
    ServedRequest* one = &request;
    instance->run({&one, 1});
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] != 0) expected.push_back(static_cast<std::int64_t>(i));
    EXPECT_EQ(request.error, "");
    EXPECT_EQ(request.y_shape, (Shape{1, static_cast<std::int64_t>(expected.size())}));
    EXPECT_EQ(request.values<std::int64_t>(), expected);
    EXPECT_EQ(request.outputs, 1);
  }
}

// A sum over the batch has no row for each request.
TEST_F(Served, AnOutputThatMixesTheBatchIsNotDivided) {
  onnx::ModelProto m = new_model();
  add_input(*m.graph, "x", {"n", "2"});
  m.graph->initializer.push_back(floats("w", {2, 2}, {1, 0, 0, 1}));
  add_node(*m.graph, "MatMul", {"x", "w"}, {"p"});
  onnx::NodeProto& twice = add_node(*m.graph, "Concat", {"p", "x"}, {"y"});
  add_int(twice, "axis", 0);
  add_output(*m.graph, "y");
  std::ofstream(path_, std::ios::binary) << serialized(m);
  options_.max_batch = 4;
  const auto instance = open_served_model(path_, options_)->create_instance("cpu");
  Request a({1, 2}, {1, 2}), b({1, 2}, {3, 4});
  ServedRequest* both[] = {&a, &b};
  instance->run(both);
  for (const Request* request : {&a, &b}) {
    EXPECT_EQ(request->error, "output 'y' has the shape 4x2 for a batch of 2 rows, so it cannot be divided among requests: configure a "
                              "batch size of 0");
    EXPECT_EQ(request->finished, 1);
    EXPECT_EQ(request->outputs, 0);
  }
  Request alone({1, 2}, {1, 2});
  ServedRequest* one = &alone;
  instance->run({&one, 1});
  EXPECT_EQ(alone.error, "output 'y' has the shape 2x2 for a batch of 1 rows, so it cannot be divided among requests: configure a batch "
                         "size of 0");
}

TEST_F(Served, WithoutABatchDimEachRequestIsARun) {
  const auto instance = open("Relu", {"n"})->create_instance("cpu");
  Request a({2}, {-1, 2}), b({3}, {3, -4, 5}), none({0}, {});
  ServedRequest* all[] = {&a, &b, &none};
  std::vector<BatchRun> runs;
  instance->run(all, &runs);
  EXPECT_EQ(a.values<float>(), (std::vector<float>{0, 2})) << a.error;
  EXPECT_EQ(b.values<float>(), (std::vector<float>{3, 0, 5})) << b.error;
  EXPECT_EQ(none.y_shape, (Shape{0})) << none.error;
  EXPECT_EQ(runs.size(), 3u);
}

TEST_F(Served, ATokenStopsTheRunOfARequestThatIsAlone) {
  options_.max_batch = 4;
  const auto instance = open("Relu", {"n", "2"})->create_instance("cpu");
  Request a({1, 2}, {-1, 2}), b({1, 2}, {3, -4}), alone({1, 2}, {5, 6});
  a.token = alone.token = CancelToken::create();
  a.token.cancel(), alone.token.cancel();
  ServedRequest* both[] = {&a, &b};
  instance->run(both);
  EXPECT_EQ(a.values<float>(), (std::vector<float>{0, 2})) << a.error;   // another's answer depends on the run
  EXPECT_EQ(b.values<float>(), (std::vector<float>{3, 0})) << b.error;
  ServedRequest* one = &alone;
  instance->run({&one, 1});
  EXPECT_NE(alone.error, "");
  EXPECT_EQ(alone.finished, 1);
}

TEST_F(Served, BatchesArePaddedToFewSizes) {
  using served_model::padded_rows;
  std::vector<std::int64_t> sizes;
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 13, 17, 25, 33, 49}) sizes.push_back(padded_rows(rows, 50));
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{1, 2, 3, 4, 6, 8, 8, 12, 16, 24, 32, 48, 50}));
}

// What a GPU does with a batch, on a CPU.
TEST_F(Served, RowsOfZerosAreLeftOutOfAnswers) {
  options_.max_batch = 8;
  open("Exp", {"n", "2"});
  options_.build.profiles.push_back({{"x", {{1, 2}, {8, 2}, {8, 2}}}});
  const auto model = std::make_shared<served_model::FileModel>(path_, options_);
  served_model::DeviceEngines engines(path_, options_, "cpu", false);
  const ServedEngine engine = engines.engine_for({});
  served_model::UsedEngine used{engine, 0, engine.engine.create_context(), std::vector<std::vector<std::byte>>(2), {}};
  Request a({2, 2}, {0, 1, 2, 3}), b({1, 2}, {4, 5});
  ServedRequest* both[] = {&a, &b};
  std::vector<BatchRun> runs;
  run_in_groups(both, model->bindings(), 8, [&](const RequestGroup& group) { return run_batch(*model, used, group, 4, true); }, &runs);
  EXPECT_EQ(used.context->shape(0), (Shape{4, 2}));
  EXPECT_EQ(static_cast<const float*>(used.context->own_memory(0))[7], 0);
  EXPECT_EQ(a.y_shape, (Shape{2, 2})) << a.error;
  EXPECT_EQ(b.y_shape, (Shape{1, 2})) << b.error;
  EXPECT_NEAR(a.values<float>()[3], 20.0855f, 1e-3);
  EXPECT_NEAR(b.values<float>()[1], 148.413f, 1e-2);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].rows, 3);   // of requests
}

}  // namespace
}  // namespace tenfold
