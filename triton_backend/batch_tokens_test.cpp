// tenfold.max_batch_tokens: which requests join a batch, as Triton's batcher asks for them, and how batches are divided.
#include <dlfcn.h>

#include "backend_case_for_tests.h"
#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold::triton {
namespace {

using namespace onnx_import;

struct Batcher;

// The calls of Triton's batcher into batchstrategy.so, which lies beside the library.
class Strategy {
 public:
  explicit Strategy(FakeModel& model) {
    const std::filesystem::path path = std::filesystem::path(TENFOLD_TRITON_BACKEND).parent_path() / "batchstrategy.so";
    library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(library_) << ::dlerror();
    call<Batcher**, FakeModel*>("TRITONBACKEND_ModelBatcherInitialize", &batcher_, &model);
  }
  ~Strategy() {
    call<Batcher*>("TRITONBACKEND_ModelBatcherFinalize", batcher_);
    ::dlclose(library_);
  }
  void begin(void*& batch) { call<const Batcher*, void**>("TRITONBACKEND_ModelBatchInitialize", batcher_, &batch); }
  void end(void*& batch) { call<void*>("TRITONBACKEND_ModelBatchFinalize", batch), batch = nullptr; }
  // A new batch is announced once when it is made, and again when requests are looked for.
  void begin_new(void*& batch) { begin(batch), end(batch), begin(batch); }
  bool joins(FakeRequest& request, void* batch) {
    bool joins = false;
    call<FakeRequest*, void*, bool*>("TRITONBACKEND_ModelBatchIncludeRequest", &request, batch, &joins);
    return joins;
  }
  const Batcher* get() const { return batcher_; }

 private:
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<TRITONSERVER_Error* (*)(Arguments...)>(::dlsym(library_, name));
    ASSERT_TRUE(function) << name;
    EXPECT_EQ(function(arguments...), nullptr) << name;
  }
  void* library_ = nullptr;
  Batcher* batcher_ = nullptr;
};

class BatchTokens : public TritonBackend {
 protected:
  static json parameter(const std::string& name, const std::string& value) { return {{name, {{"string_value", value}}}}; }
  // Sums of embeddings: y[batch,2] = sum of table[ids[batch,length]]
  void save_ids(bool with_mask = false) {
    onnx::ModelProto m = new_model(13);
    add_input(*m.graph, "ids", {"batch", "length"}, DType::i64);
    if (with_mask) add_input(*m.graph, "attention_mask", {"batch", "length"}, DType::i64);
    m.graph->initializer.push_back(floats("table", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
    add_node(*m.graph, "Gather", {"table", "ids"}, {"rows"});
    onnx::NodeProto& node = add_node(*m.graph, "ReduceMean", {"rows"}, {"y"});
    auto& axes = add_attribute(node, "axes", 7);
    axes.ints = {1};
    add_int(node, "keepdims", 0);
    add_output(*m.graph, "y");
    save(m);
  }
  static FakeRequest ids(std::int64_t rows, std::int64_t length) {
    FakeRequest request;
    const std::vector<std::int64_t> ones(static_cast<std::size_t>(rows * length), 1);
    request.inputs = {{"ids", kTritonInt64, {rows, length}, {bytes_of(ones)}}};
    request.outputs = {"y"};
    return request;
  }
  static FakeRequest text(const std::string& text) {
    FakeRequest request;
    request.inputs = {{"text", kTritonBytes, {1, 1}, {wire(text)}}};
    request.outputs = {"embedding"};
    return request;
  }
};

TEST_F(BatchTokens, IdsAreCountedWithTheirRows) {
  save_ids();
  configure({{"max_batch_size", 16}, {"parameters", parameter("tenfold.max_batch_tokens", "24")}});
  ASSERT_EQ(load(), "");
  Strategy strategy(model_);
  FakeRequest five = ids(1, 5), ten = ids(2, 5), nine = ids(1, 9), ten_more = ids(2, 5), huge = ids(5, 9);
  void* batch = nullptr;
  strategy.begin_new(batch);
  EXPECT_TRUE(strategy.joins(five, batch));
  EXPECT_TRUE(strategy.joins(ten, batch));
  EXPECT_TRUE(strategy.joins(nine, batch));    // 24, to the last token
  EXPECT_FALSE(strategy.joins(ten_more, batch));
  strategy.end(batch);
  void* next = nullptr;
  strategy.begin_new(next);
  EXPECT_TRUE(strategy.joins(huge, next));     // alone, whatever its length
  EXPECT_FALSE(strategy.joins(five, next));
  strategy.end(next);
}

// A batch that waits for an instance gets more requests; those that it has count.
TEST_F(BatchTokens, AWaitingBatchGrowsUpToTheLimit) {
  save_ids();
  configure({{"max_batch_size", 16}, {"parameters", parameter("tenfold.max_batch_tokens", "12")}});
  ASSERT_EQ(load(), "");
  Strategy strategy(model_);
  std::vector<FakeRequest> some;
  for (int i = 0; i < 6; ++i) some.push_back(ids(1, 4));
  void* batch = nullptr;
  strategy.begin_new(batch);
  EXPECT_TRUE(strategy.joins(some[0], batch));
  strategy.end(batch);                          // it is queued
  strategy.begin(batch);                        // and still takes requests
  EXPECT_TRUE(strategy.joins(some[1], batch));
  strategy.end(batch), strategy.begin(batch);   // asked about again from the start, as after a timeout in the queue
  EXPECT_TRUE(strategy.joins(some[1], batch));
  EXPECT_TRUE(strategy.joins(some[2], batch));
  EXPECT_FALSE(strategy.joins(some[3], batch));
  strategy.end(batch);
  strategy.begin_new(batch);                    // another batch at the same address
  EXPECT_TRUE(strategy.joins(some[3], batch));
  EXPECT_TRUE(strategy.joins(some[4], batch));
  EXPECT_TRUE(strategy.joins(some[5], batch));
  strategy.end(batch);
}

// Texts are counted as the encoder counts them: with special tokens, truncated to 16.
TEST_F(BatchTokens, TextsAreCountedByTheTokenizer) {
  const encoders::TinyBert bert("triton_batch_tokens");
  std::filesystem::copy(bert.path, folder_ / "1", std::filesystem::copy_options::recursive);
  configure({{"max_batch_size", 8}, {"parameters", parameter("tenfold.max_batch_tokens", "26")}});
  ASSERT_EQ(load(), "");
  Strategy strategy(model_);
  FakeRequest five = text("a b c"), sixteen = text("a b c d a b c d a b c d a b c d a b c d"), five_more = text("a aa"), three = text("d");
  FakeRequest wrong = text("\xff");
  void* batch = nullptr;
  strategy.begin_new(batch);
  EXPECT_TRUE(strategy.joins(five, batch));
  EXPECT_TRUE(strategy.joins(sixteen, batch));
  EXPECT_TRUE(strategy.joins(wrong, batch));   // which fails by itself
  EXPECT_TRUE(strategy.joins(five_more, batch));
  EXPECT_FALSE(strategy.joins(three, batch));
  strategy.end(batch);
  FakeInstance& on = instance();
  FakeRequest last = text("b");
  execute(on, {&five, &sixteen, &five_more, &three, &last});
  ASSERT_EQ(on.batches.size(), 2u);            // what Triton put together is divided
  EXPECT_EQ(on.batches[0].first, 3u);
  EXPECT_EQ(on.batches[1].first, 2u);
  EXPECT_EQ(last.error, -1) << last.message;
  EXPECT_EQ(fake_log().find("batchstrategy.so"), std::string::npos) << fake_log();
}

TEST_F(BatchTokens, MasksCountWherePaddingIsSkipped) {
  save_ids(true);
  json parameters = parameter("tenfold.max_batch_tokens", "8");
  parameters.update(parameter("tenfold.pack_tokens", "with_zeros"));
  configure({{"max_batch_size", 8}, {"parameters", parameters}});
  ASSERT_EQ(load(), "");
  Strategy strategy(model_);
  const auto masked = [](const std::vector<std::int64_t>& mask) {
    FakeRequest request = ids(1, 6);
    const std::string bytes = bytes_of(mask);
    request.inputs.push_back({"attention_mask", kTritonInt64, {1, 6}, {bytes.substr(0, 13), bytes.substr(13)}});
    return request;
  };
  FakeRequest three = masked({1, 1, 1, 0, 0, 0}), four = masked({1, 1, 0, 1, 1, 0}), two = masked({1, 1, 0, 0, 0, 0}),
              one = masked({1, 0, 0, 0, 0, 0});
  void* batch = nullptr;
  strategy.begin_new(batch);
  EXPECT_TRUE(strategy.joins(three, batch));
  EXPECT_TRUE(strategy.joins(four, batch));
  EXPECT_FALSE(strategy.joins(two, batch));
  strategy.end(batch);
  strategy.begin(batch);
  EXPECT_TRUE(strategy.joins(one, batch));
  strategy.end(batch);
}

TEST_F(BatchTokens, WithoutTheParameterAllJoin) {
  save_ids();
  configure({{"max_batch_size", 16}, {"parameters", json::object()}});
  ASSERT_EQ(load(), "");
  Strategy strategy(model_);
  EXPECT_EQ(strategy.get(), nullptr);
  FakeRequest huge = ids(9, 90), other = ids(9, 90);
  void* batch = nullptr;
  strategy.begin_new(batch);
  EXPECT_TRUE(strategy.joins(huge, batch));
  EXPECT_TRUE(strategy.joins(other, batch));
  strategy.end(batch);
}

TEST_F(BatchTokens, WithoutAStrategyBatchesAreDivided) {
  save_ids();
  configure({{"max_batch_size", 16}, {"parameters", parameter("tenfold.max_batch_tokens", "10")}});
  ASSERT_EQ(load(), "");
  FakeInstance& on = instance();
  EXPECT_NE(fake_log().find("W model 'model': Triton forms batches without tenfold.max_batch_tokens"), std::string::npos) << fake_log();
  FakeRequest a = ids(1, 5), b = ids(1, 5), c = ids(1, 5), wide = ids(4, 5);
  execute(on, {&a, &b, &c, &wide});
  ASSERT_EQ(on.batches.size(), 3u);
  EXPECT_EQ(on.batches[0].first, 2u);
  EXPECT_EQ(on.batches[1].first, 1u);
  EXPECT_EQ(on.batches[2].first, 4u);
  EXPECT_EQ(values_of<float>(wide.answer.at("y")->bytes), (std::vector<float>{3, 4, 3, 4, 3, 4, 3, 4}));
}

TEST_F(BatchTokens, ModelsWithoutTokensRefuseIt) {
  onnx::ModelProto m = small_model();
  save(m);
  configure({{"max_batch_size", 4}, {"parameters", parameter("tenfold.max_batch_tokens", "10")}});
  const std::string error = load();
  EXPECT_NE(error.find("parameter 'tenfold.max_batch_tokens' is for encoders and for models with an input of token ids"), std::string::npos)
      << error;
  model_.completed.clear();
  configure({{"max_batch_size", 4}, {"parameters", parameter("tenfold.max_batch_tokens", "0")}});
  EXPECT_NE(load().find("parameter 'tenfold.max_batch_tokens' is '0', expected a number from 1 on"), std::string::npos);
  save_ids();
  configure({{"max_batch_size", 0},
             {"parameters", parameter("tenfold.max_batch_tokens", "10")},
             {"input", {{{"name", "ids"}, {"data_type", "TYPE_INT64"}, {"dims", {-1, -1}}}}},
             {"output", {{{"name", "y"}, {"data_type", "TYPE_FP32"}, {"dims", {-1, 2}}}}}});
  ASSERT_EQ(load(), "");
  EXPECT_NE(fake_log().find("parameter 'tenfold.max_batch_tokens' changes nothing: requests are not batched"), std::string::npos);
}

}  // namespace
}  // namespace tenfold::triton
