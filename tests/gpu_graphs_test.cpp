// CUDA graphs of an engine's own, on a driver that ends captures as the real one does: nothing that a context does may end one, in
// whatever order sizes and streams come, and where one ends all the same the run goes on without a graph.
#include <algorithm>

#include "on_a_fake_gpu.h"

namespace tenfold {
namespace {

class Graphs : public tests::FakeGpu {
 protected:
  // Runs batch after batch, each in memory of its own as torch's allocator gives it, on one of the callers' streams or the engine's own.
  void run_all(const Engine& engine, const std::vector<std::int64_t>& batches, const std::vector<void*>& streams, bool prepares) {
    const auto context = engine.create_context();
    std::size_t at = 0;
    for (const std::int64_t batch : batches) {
      set_batch(*context, batch);
      for (int b = 0; b < 2; ++b) {
        memory_.push_back(backend_->memory().allocate(kBytes));
        ASSERT_TRUE(context->bind(b, memory_.back().get(), kBytes));
      }
      if (prepares) {
        const Status status = context->prepare();
        ASSERT_TRUE(status) << context->describe(status);
      }
      for (int times = 0; times < 3; ++times) {
        void* const stream = streams[at++ % streams.size()];
        const std::size_t ran = fake_->graphs_ran_on.size();
        const Status status = stream ? context->enqueue(stream) : context->run();
        ASSERT_TRUE(status) << "batch " << batch << ": " << context->describe(status);
        EXPECT_EQ(fake_->own.broken, 0) << "batch " << batch << ": " << fake_->own.broken_by;
        if (stream && fake_->graphs_ran_on.size() > ran) {
          EXPECT_EQ(fake_->graphs_ran_on.back(), stream) << "batch " << batch << ", run " << times << " is not on the caller's stream";
        }
      }
    }
    EXPECT_GT(fake_->own.begun, 0);
  }
  static constexpr std::int64_t kBytes = 1 << 16;
  std::vector<std::shared_ptr<void>> memory_;
  void TearDown() override {
    memory_.clear();
    FakeGpu::TearDown();
  }
};

TEST_F(Graphs, NoCaptureEndsInAnyOrderOfSizesAndStreams) {
  int mine = 0, other = 0;
  void* const standard = reinterpret_cast<void*>(std::uintptr_t{1});
  const std::vector<std::vector<void*>> streams = {{nullptr},          {standard},        {&mine},
                                                   {standard, &mine},  {&mine, &other},   {nullptr, standard},
                                                   {nullptr, &mine},   {standard, nullptr, &mine, &other}};
  const Engine branched = engine(R"((x f32[batch,6], w f32[6,600]!, v f32[6,600]!)
    a = MatMul(x, w)
    b = Softmax(a) axis=-1
    c = MatMul(x, v)
    d = LogSoftmax(c) axis=-1
    y = Concat(b, d) axis=0)");
  for (const Engine* e : std::initializer_list<const Engine*>{engine_.get(), &branched})
    for (const auto& s : streams)
      for (const bool prepares : {false, true}) {
        std::vector<std::int64_t> batches{2, 3, 4};
        do run_all(*e, batches, s, prepares);
        while (std::next_permutation(batches.begin(), batches.end()));
        run_all(*e, {3, 8, 3, 8, 3, 1}, s, prepares);
        memory_.clear();
      }
}

// The first size is captured at once, another when it comes again: not by the two looks that one enqueued run takes at its addresses.
TEST_F(Graphs, ASecondSizeIsCapturedWhenItComesAgain) {
  int mine = 0;
  const auto context = engine_->create_context();
  context->own_memory(0), context->own_memory(1);
  const auto captures_of = [&](std::int64_t batch) {
    const int before = fake_->own.begun;
    set_batch(*context, batch);
    EXPECT_TRUE(context->enqueue(&mine));
    EXPECT_TRUE(context->wait());
    return fake_->own.begun - before;
  };
  EXPECT_EQ(captures_of(3), 1);
  EXPECT_EQ(captures_of(4), 0);
  EXPECT_EQ(captures_of(4), 1);
  EXPECT_EQ(captures_of(5), 0);
  EXPECT_EQ(captures_of(3), 0) << "it has a graph";
  EXPECT_EQ(captures_of(5), 1);
}

TEST_F(Graphs, ARunGoesOnWhereACaptureEnds) {
  for (const int launches : {0, 1}) {
    const Engine chain = engine("(x f32[batch,6], w f32[6,6]!)\n a = Softmax(x) axis=-1\n b = MatMul(a, w)\n y = Softmax(b) axis=-1");
    const auto context = chain.create_context();
    context->own_memory(0), context->own_memory(1);
    set_batch(*context, 3);
    fake_->own.launches_till_break = launches, fake_->own.begun = 0;
    int mine = 0;
    for (int times = 0; times < 4; ++times) {
      const Status status = context->enqueue(&mine);
      ASSERT_TRUE(status) << context->describe(status);
      ASSERT_TRUE(context->wait());
    }
    EXPECT_EQ(fake_->own.broken, 1 + launches);
    EXPECT_EQ(fake_->own.begun, 1) << "it is not tried again";
    EXPECT_TRUE(fake_->graphs_ran_on.empty());
    set_batch(*context, 5);
    ASSERT_TRUE(context->prepare());
    ASSERT_TRUE(context->run());
    fake_->own.launches_till_break = -1;
  }
}

}  // namespace
}  // namespace tenfold
