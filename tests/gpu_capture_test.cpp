// Runs on a stream that the caller is capturing, on a driver that notes what it is asked meanwhile.
#include "on_a_fake_gpu.h"
#include "runtime/engine/opened.h"
#include "tenfold/bindings.h"
#include "tenfold/completion.h"
#include "tenfold/internal/capture.h"

namespace tenfold {
namespace {

class Capture : public tests::FakeGpu {
 protected:
  // A context whose bindings lie on the GPU, `offset` bytes behind an aligned address.
  std::unique_ptr<ExecutionContext> ready(const Engine& engine, std::int64_t offset = 0, bool prepared = true) {
    auto context = engine.create_context();
    set_batch(*context, 3);
    for (int b = 0; b < 2; ++b) {
      memory_.push_back(backend_->memory().allocate(4096 + offset));
      EXPECT_TRUE(context->bind(b, static_cast<std::byte*>(memory_.back().get()) + offset, 4096));
    }
    if (prepared) {
      EXPECT_TRUE(context->prepare());
    }
    return context;
  }
  void begin(int status = 1) {
    fake_->capturing[&stream_] = status;
    fake_->forbidden.clear(), fake_->captured = 0, ran_ = fake_->graphs_ran_on.size(), waits_ = fake_->waits;
  }
  void end() { fake_->capturing.clear(); }
  void expect_nothing_forbidden() const {
    EXPECT_TRUE(fake_->forbidden.empty()) << fake_->forbidden.size() << " calls, the first is " << fake_->forbidden.front();
    EXPECT_EQ(fake_->graphs_ran_on.size(), ran_) << "a graph of the context's own ran";
    EXPECT_EQ(fake_->waits, waits_);
  }
  // Nothing is enqueued, and the words say why.
  void expect_refused(ExecutionContext& context, Status::Code code, const std::string& word) {
    begin();
    const Status status = context.enqueue(&stream_);
    EXPECT_EQ(status.code, code) << context.describe(status);
    EXPECT_NE(context.describe(status).find(word), std::string::npos) << context.describe(status);
    EXPECT_EQ(fake_->captured, 0);
    expect_nothing_forbidden();
    end();
  }
  int stream_ = 0;   // its address is the caller's stream
  std::size_t ran_ = 0;
  int waits_ = 0;
  std::vector<std::shared_ptr<void>> memory_;
  void TearDown() override {
    memory_.clear();
    FakeGpu::TearDown();
  }
};

TEST_F(Capture, StepsGoIntoTheCallersGraphAndNothingElseIsAsked) {
  const Engine chain = engine("(x f32[batch,6], w f32[6,6]!)\n a = Softmax(x) axis=-1\n b = MatMul(a, w)\n y = Softmax(b) axis=-1");
  const auto context = ready(chain);
  const std::size_t steps = runtime::state_of(chain)->plan.programs[0].steps.size();
  ASSERT_GE(steps, 2u);
  for (int times = 1; times <= 2; ++times) {
    begin();
    ASSERT_TRUE(context->enqueue(&stream_));
    EXPECT_EQ(fake_->captured, static_cast<int>(steps));
    expect_nothing_forbidden();
    end();
  }
  EXPECT_TRUE(context->run()) << "the context is its own again";
  EXPECT_EQ(fake_->graphs_ran_on.size(), ran_ + 1);
}

// A stream that is not captured at the moment is asked as ever.
TEST_F(Capture, OtherStreamsAreUsedAsBefore) {
  const auto context = ready(*engine_);
  ASSERT_TRUE(context->enqueue(&stream_));
  EXPECT_EQ(fake_->graphs_ran_on, std::vector<const void*>{&stream_});
  EXPECT_EQ(fake_->captured, 0);
}

TEST_F(Capture, CopiesOfMisalignedAddressesBelongToTheGraph) {
  const auto context = ready(*engine_, 4);
  begin();
  ASSERT_TRUE(context->enqueue(&stream_));
  EXPECT_EQ(fake_->captured, static_cast<int>(runtime::state_of(*engine_)->plan.programs[0].steps.size()) + 2);
  expect_nothing_forbidden();
}

TEST_F(Capture, PinnedMemoryBelongsToTheGraph) {
  const auto context = engine_->create_context();
  set_batch(*context, 3);
  context->own_memory(0), context->own_memory(1);
  ASSERT_TRUE(context->prepare());
  begin();
  const Status status = context->enqueue(&stream_);
  ASSERT_TRUE(status) << context->describe(status);
  EXPECT_GE(fake_->captured, 1);
  expect_nothing_forbidden();
}

TEST_F(Capture, PrepareComesFirst) {
  const auto context = ready(*engine_, 0, false);
  expect_refused(*context, Status::not_ready, "prepare()");
  ASSERT_TRUE(context->prepare());
  set_batch(*context, 2);
  expect_refused(*context, Status::not_ready, "prepare()");
}

TEST_F(Capture, WhatTheHostDecidesIsRefusedByName) {
  const Engine looped = engine(R"((x f32[batch,6], m i64[])
    y = Loop(m, _, x) carried=1 graphs=[
      (i i64[], go bool[], s f32[batch,6])
        t = Relu(s)
        return go, t
    ]
    return y)");
  const auto loop = looped.create_context();
  set_batch(*loop, 3);
  for (int b = 0; b < 3; ++b) {
    memory_.push_back(backend_->memory().allocate(4096));
    ASSERT_TRUE(loop->bind(b, memory_.back().get(), 4096));
  }
  ASSERT_TRUE(loop->prepare());
  expect_refused(*loop, Status::failed, "is a loop");

  const auto pageable = engine_->create_context();
  set_batch(*pageable, 3);
  std::vector<float> x(18), y(18);
  ASSERT_TRUE(pageable->bind(0, x.data(), 72) && pageable->bind(1, y.data(), 72));
  ASSERT_TRUE(pageable->prepare());
  expect_refused(*pageable, Status::failed, "input 'x' lies in memory of the host's");

  const auto profiled = ready(*engine_);
  profiled->set_profiler([](std::string_view, double) {});
  ASSERT_TRUE(profiled->prepare());
  expect_refused(*profiled, Status::failed, "profiler");

  const auto allocating = ready(*engine_);
  const auto none = [](void*, int, std::int64_t) -> void* { return nullptr; };
  ASSERT_TRUE(set_allocator(*allocating, 1, none, nullptr));
  allocating->prepare();
  const Status status = (begin(), allocating->enqueue(&stream_));
  EXPECT_FALSE(status);
  EXPECT_EQ(fake_->captured, 0);
  expect_nothing_forbidden();
}

// As calls from Python do.
TEST_F(Capture, AContextMadeInTheMiddleLivesAsLongAsTheGraph) {
  for (int b = 0; b < 2; ++b) memory_.push_back(backend_->memory().allocate(4096));
  EXPECT_FALSE(is_captured(&stream_));
  begin();
  EXPECT_TRUE(is_captured(&stream_));
  std::shared_ptr<ExecutionContext> context;
  {
    const CaptureLeave leave;
    context = engine_->create_context();
    set_batch(*context, 3);
    for (int b = 0; b < 2; ++b) ASSERT_TRUE(context->bind(b, memory_[static_cast<std::size_t>(b)].get(), 4096));
    context->replay_runs(false);
    ASSERT_TRUE(context->prepare());
    const Status status = context->enqueue(&stream_);
    ASSERT_TRUE(status) << context->describe(status);
  }
  EXPECT_EQ(fake_->capture_mode, 0) << "the thread's mode is what it was";
  EXPECT_GT(fake_->captured, 0);
  expect_nothing_forbidden();
  const std::weak_ptr<ExecutionContext> seen = context;
  keep_with_capture(&stream_, std::move(context));
  end();
  EXPECT_FALSE(seen.expired());
  ASSERT_EQ(fake_->of_graphs.size(), 1u);
  fake_->of_graphs[0].second(fake_->of_graphs[0].first);   // the graph is destroyed
  EXPECT_TRUE(seen.expired());
}

TEST_F(Capture, TheEndOfARunIsNotToldToACapture) {
  const auto context = ready(*engine_);
  begin();
  const Status status = enqueue_then(*context, &stream_, {}, {});
  EXPECT_EQ(status.code, Status::failed);
  EXPECT_NE(context->describe(status).find("enqueue_then()"), std::string::npos) << context->describe(status);
  EXPECT_EQ(fake_->captured, 0);
  expect_nothing_forbidden();
}

TEST_F(Capture, ACaptureThatAnErrorEndedTakesNoWork) {
  const auto context = ready(*engine_);
  begin(2);
  const Status status = context->enqueue(&stream_);
  EXPECT_EQ(status.code, Status::device);
  EXPECT_NE(context->describe(status).find("capture"), std::string::npos) << context->describe(status);
  EXPECT_EQ(fake_->captured, 0);
  expect_nothing_forbidden();
}

}  // namespace
}  // namespace tenfold
