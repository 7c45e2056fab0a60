// Text encoders on packed tokens on a GPU: as the interpreter, wherever the mask lies, also enqueued; and offsets that are none fail the
// run. Where there is no GPU every test is skipped, with the reason.
#include <gtest/gtest.h>

#include "backends/cuda/backend.h"
#include "ops/interpret.h"
#include "packed_encoder.h"

namespace tenfold::packed {
namespace {

class PackedOnAGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string lacks;
    if (backends::cuda_devices(lacks).empty()) GTEST_SKIP() << "no GPU: " << lacks;
    backend_ = backends::open_cuda(0);
    stream_ = backend_->open_stream({});
  }
  std::unique_ptr<ExecutionContext> context_of(const ir::Graph& graph, BuildConfig c) const {
    c.device = "cuda:0", c.tf32 = false;
    return builder::build_graph(graph, c).create_context();
  }
  // The tensor in the GPU's memory.
  std::shared_ptr<void> on_device(const Tensor& t) const {
    auto memory = backend_->memory().allocate(t.bytes());
    EXPECT_EQ(stream_->copy(memory.get(), t.raw(), t.bytes()), Status::ok);
    EXPECT_EQ(stream_->wait(), Status::ok);
    return memory;
  }
  std::shared_ptr<backends::Backend> backend_;
  std::unique_ptr<backends::Stream> stream_;
};

// Expected results of sentences that hold a token; others are 0 / 0 in the interpreter behind -inf.
void expect_means(const float* got, const Tensor& expected) {
  for (std::int64_t i = 0; i < expected.size(); ++i)
    if (!std::isnan(expected.as_double(i))) {
      ASSERT_NEAR(got[i], expected.as_double(i), 1e-4) << "element " << i;
    }
}

TEST_F(PackedOnAGpu, AsTheInterpreterWhereverTheMaskLies) {
  for (const std::string& how : {kWhere, kTimes, kGathered}) {
    const ir::Graph graph = parse(encoder(how, kMean));
    const auto context = context_of(graph, config(PackTokens::where_equal));
    for (int again = 0; again < 3; ++again)   // step by step, recorded, replayed
      for (const Tensor& mask : masks()) {
        const Tensor ids = words(mask.shape());
        const Tensor expected = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0));
        expect_means(context->run({ids, mask}).at(0).data<float>(), expected);
        const auto far_ids = on_device(ids), far_mask = on_device(mask);
        auto y = backend_->memory().allocate_host(expected.bytes());
        for (const bool enqueued : {false, true}) {
          std::fill_n(static_cast<float*>(y.get()), expected.size(), -1.f);
          ASSERT_TRUE(context->bind(0, far_ids.get(), ids.bytes()));
          ASSERT_TRUE(context->bind(1, far_mask.get(), mask.bytes()));
          ASSERT_TRUE(context->bind(2, y.get(), expected.bytes()));
          ASSERT_TRUE(context->prepare());
          ASSERT_TRUE(enqueued ? context->enqueue() : context->run());
          if (enqueued) {
            ASSERT_TRUE(context->enqueue());   // the second may not overwrite what the first still reads
            ASSERT_TRUE(context->wait());
          }
          expect_means(static_cast<const float*>(y.get()), expected);
        }
        for (int b : {0, 1, 2}) ASSERT_TRUE(context->bind(b, nullptr, 0));
      }
  }
}

// Offsets are an operand like an index: what does not rise from 0 to the rows there are is an error, as on CPUs.
TEST_F(PackedOnAGpu, BadOffsetsFailTheRun) {
  for (const DType type : {DType::f32, DType::f16})
    for (const std::string op : {"FusedAttention(x, x, x, _, o) longest=8 scale=0.5", "MaskedMean(r, k, o)"}) {
      const bool attention = op[0] == 'F';
      const ir::Graph graph = parse(cat("(x ", name(type), attention ? "[1,2,12,16]" : "[1,12,16]", ", o i32[4])\n",
                                        attention ? "" : "ones = i64[12]{1,1,1,1,1,1,1,1,1,1,1,1}\n two = i64[2]{1,12}\n"
                                                         " k = Reshape(ones, two)\n r = Identity(x)\n",
                                        " y = ", op, "\n return y\n"));
      BuildConfig c = config(PackTokens::no);
      c.profiles.clear();
      const auto context = context_of(graph, c);
      const Tensor x = ops::random_tensor(type, graph.inputs[0]->dims().size() == 4 ? Shape{1, 2, 12, 16} : Shape{1, 12, 16}, 3);
      Tensor offsets(DType::i32, {4});
      auto* const o = offsets.mutable_data<std::int32_t>();
      ASSERT_TRUE(context->bind(0, const_cast<void*>(x.raw()), x.bytes()));
      ASSERT_TRUE(context->bind(1, o, offsets.bytes()));
      context->own_memory(2);
      const auto run = [&](std::initializer_list<std::int32_t> values) {
        std::copy(values.begin(), values.end(), o);
        return context->run().code;
      };
      for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(run({0, 5, 5, 10}), Status::ok) << op;
        EXPECT_EQ(run({0, 5, 4, 12}), Status::bad_index) << op;
        EXPECT_EQ(run({0, 5, 12, 13}), Status::bad_index) << op;
        EXPECT_EQ(run({0, -1, 5, 12}), Status::bad_index) << op;
        if (attention) {
          EXPECT_EQ(run({1, 5, 8, 12}), Status::bad_index);
          EXPECT_EQ(run({0, 9, 9, 12}), Status::bad_index) << "longer than the longest";
        }
      }
    }
}

}  // namespace
}  // namespace tenfold::packed
