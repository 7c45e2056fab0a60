// The run time of CUDA engines on a driver that computes nothing: which calls are made, and what becomes of those that fail. What needs
// a GPU is in gpu_test.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/failures.h"
#include "on_a_fake_gpu.h"
#include "plan/write.h"
#include "runtime/context.h"
#include "runtime/device/graph_branches.h"
#include "tenfold/device_error.h"
#include "tenfold/runtime.h"

namespace tenfold {
namespace {

using tests::FakeDriver;
using tests::FakeGpu;

TEST_F(FakeGpu, EnqueueWaitsForNothingAndUsesTheCallersStream) {
  const auto context = engine_->create_context();
  set_batch(*context, 3);
  context->own_memory(0), context->own_memory(1);
  ASSERT_TRUE(context->prepare());
  fake_->waits = 0, fake_->graphs_ran_on.clear();
  int mine = 0;
  ASSERT_TRUE(context->enqueue(&mine));
  EXPECT_EQ(fake_->waits, 0);
  EXPECT_EQ(fake_->graphs_ran_on, std::vector<const void*>{&mine});
  ASSERT_TRUE(context->wait());
  ASSERT_TRUE(context->enqueue());
  ASSERT_TRUE(context->run());
  ASSERT_EQ(fake_->graphs_ran_on.size(), 3u);
  EXPECT_NE(fake_->graphs_ran_on[1], &mine);
  EXPECT_EQ(fake_->graphs_ran_on[2], fake_->graphs_ran_on[1]);
  context->measure_parts(true);
  ASSERT_TRUE(context->run());
  EXPECT_GT(context->last_times().enqueue_ms, 0);
}

// Nobody ends it, so that no event has to be recorded at once; whoever comes next on another stream follows what it was given.
TEST_F(FakeGpu, RunsOnTheDefaultStreamFollowEachOtherWithoutEvents) {
  const auto context = engine_->create_context();
  set_batch(*context, 3);
  context->own_memory(0), context->own_memory(1);
  ASSERT_TRUE(context->prepare());
  ASSERT_TRUE(context->wait());
  void* const standard = reinterpret_cast<void*>(std::uintptr_t{1});
  int mine = 0;
  fake_->recorded_on.clear(), fake_->followed_on.clear();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(context->enqueue(standard));
  EXPECT_TRUE(fake_->recorded_on.empty());
  EXPECT_TRUE(fake_->followed_on.empty());
  ASSERT_TRUE(context->enqueue(&mine));
  EXPECT_EQ(fake_->recorded_on, (std::vector<const void*>{standard, &mine}));
  EXPECT_EQ(fake_->followed_on, (std::vector<const void*>{&mine}));
  ASSERT_TRUE(context->enqueue(standard));
  EXPECT_EQ(fake_->followed_on.back(), standard);
  ASSERT_TRUE(context->run());
  EXPECT_EQ(fake_->recorded_on.back(), standard);
  EXPECT_EQ(fake_->followed_on.size(), 3u);
}

TEST_F(FakeGpu, OtherAddressesChangeGraphsAndShapesAreBounded) {
  const auto context = engine_->create_context();
  set_batch(*context, 3);
  std::vector<std::shared_ptr<void>> memory;
  const auto run_at = [&](std::size_t i) {
    while (memory.size() < 2 * i + 2) memory.push_back(backend_->memory().allocate(1024));
    ASSERT_TRUE(context->bind(0, memory[2 * i].get(), 1024));
    ASSERT_TRUE(context->bind(1, memory[2 * i + 1].get(), 1024));
    ASSERT_TRUE(context->enqueue());
  };
  for (std::size_t i = 0; i < 20; ++i) run_at(i);
  EXPECT_LE(fake_->instantiated, 4);
  EXPECT_GE(fake_->updated, 16);
  const int updated = fake_->updated;
  for (int again = 0; again < 6; ++again) run_at(18), run_at(19);  // two buffers in turn need no change
  EXPECT_EQ(fake_->updated, updated);
  EXPECT_EQ(fake_->graphs_ran_on.size(), 32u);
  for (int again = 0; again < 20; ++again)
    for (std::int64_t batch = 1; batch <= 8; ++batch) {
      set_batch(*context, batch);
      run_at(static_cast<std::size_t>(again));
    }
  EXPECT_LE(fake_->alive, 32);
}

TEST_F(FakeGpu, HostMemoryElsewhereNeedsNoOtherGraph) {
  const auto context = engine_->create_context();
  for (int i = 0; i < 10; ++i) {
    const Tensor x = ops::random_tensor(DType::f32, {3, 6}, static_cast<std::uint64_t>(i));
    context->run(std::vector<Tensor>{x});
  }
  EXPECT_EQ(fake_->instantiated, 1);
  EXPECT_EQ(fake_->updated, 0);
}

// Two products of one input, each with rows of its own, and their sum.
TEST_F(FakeGpu, BranchesGoToStrandsAndMeetAgain) {
  const Engine branched = engine(R"((x f32[batch,6], w f32[6,600]!, v f32[6,600]!)
    a = MatMul(x, w)
    b = Softmax(a) axis=-1
    c = MatMul(x, v)
    d = LogSoftmax(c) axis=-1
    y = Concat(b, d) axis=0)");
  runtime::ContextState c;
  c.engine = runtime::state_of(branched);
  const runtime::OpenTop& top = c.engine->programs[0];
  runtime::Frame frame = runtime::make_frame(top.body);
  const auto memory = backend_->memory().allocate(c.engine->info.arena_bytes + 3 * 65536);
  frame.arena = static_cast<std::byte*>(memory.get());
  for (std::size_t b = 0; b < 2; ++b) frame.bindings[b] = frame.arena + c.engine->info.arena_bytes + static_cast<std::ptrdiff_t>(b * 65536);
  std::vector<std::int64_t> dims(top.dims.size());
  std::vector<std::int64_t> symbols{3};
  std::vector<ir::DimCode::Known> known{ir::DimCode::Known::value};
  ASSERT_TRUE(top.dims.evaluate(symbols, dims, known));
  runtime::resolve_extents(frame, dims);
  runtime::resolve_addresses(c, frame);
  const runtime::BranchPlan plan = runtime::plan_branches(frame, 4);
  ASSERT_EQ(plan.steps.size(), frame.steps.size());
  EXPECT_TRUE(plan.several) << branched.inspect(1);
  // Whoever follows another branch names a step before it, and that step knows that it is followed.
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (const int other : plan.steps[i].follows) {
      ASSERT_LT(other, static_cast<int>(i));
      EXPECT_NE(plan.steps[static_cast<std::size_t>(other)].branch, plan.steps[i].branch);
      EXPECT_TRUE(plan.steps[static_cast<std::size_t>(other)].followed);
    }
  const runtime::BranchPlan alone = runtime::plan_branches(frame, 1);
  EXPECT_FALSE(alone.several);
}

TEST_F(FakeGpu, WithoutMemoryTheErrorNamesWhatIsWantedAndFree) {
  const auto old = engine_->create_context();
  const Tensor x = ops::random_tensor(DType::f32, {3, 6}, 1);
  fake_->memory = fake_->taken + 32;
  try {
    engine_->create_context();
    ADD_FAILURE() << "a context was made of 32 bytes";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    const std::string text = e.what();
    EXPECT_NE(text.find("bytes of GPU memory wanted, 32 of"), std::string::npos) << text;
    EXPECT_NE(text.find("smaller shapes (--maxShapes, a smaller batch), less workspace"), std::string::npos) << text;
    EXPECT_NE(text.find("fp16 take less"), std::string::npos) << text;
    EXPECT_EQ(text.find("fewer threads"), std::string::npos) << text;  // they take nothing of a GPU's
  }
  const std::size_t taken = fake_->taken;
  EXPECT_NO_THROW(old->run(std::vector<Tensor>{x}));
  EXPECT_EQ(fake_->taken, taken) << "a run took memory";
  fake_->memory = std::size_t{1} << 30;
  EXPECT_NO_THROW(engine_->create_context()->run(std::vector<Tensor>{x}));
  EXPECT_EQ(fake_->taken, taken) << "a context left memory behind";
}

// A run whose sizes are data asks for memory while it runs: what it lacks is told with the same numbers, and later runs have it again.
TEST_F(FakeGpu, ARunWithoutMemoryNamesWhatIsWantedAndFree) {
  const auto context = engine("(n i64[1])\n zeros = ConstantOfShape(n)\n y = Relu(zeros)").create_context();
  const auto run = [&](std::int64_t elements) {
    Tensor n(DType::i64, {1});
    n.mutable_data<std::int64_t>()[0] = elements;
    return context->run(std::vector<Tensor>{n}).at(0).shape();
  };
  EXPECT_EQ(run(8), Shape{8});
  fake_->memory = fake_->taken;
  try {
    run(100000);
    ADD_FAILURE() << "100000 floats lie nowhere";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    const std::string text = e.what();
    EXPECT_NE(text.find("bytes of GPU memory wanted, 0 of"), std::string::npos) << text;
    EXPECT_NE(text.find("take less"), std::string::npos) << text;
  }
  EXPECT_EQ(run(8), Shape{8});
  fake_->memory = std::size_t{1} << 30;
  EXPECT_EQ(run(100000), Shape{100000});
}

// Weights are placed when a plan is loaded.
TEST_F(FakeGpu, WithoutMemoryForWeightsTheErrorSaysSo) {
  const Engine product = engine("(x f32[batch,6], w f32[6,5]!)\n y = MatMul(x, w)");
  const std::filesystem::path path = std::filesystem::temp_directory_path() / cat("tenfold_fake_weights_", ::getpid(), ".plan");
  product.save(path.string());
  fake_->memory = fake_->taken;
  try {
    Engine::load(path.string(), {.device = cat("cuda:", FakeDriver::kOrdinal)});
    ADD_FAILURE() << "weights lie nowhere";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("bytes of GPU memory wanted, 0 of"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("it is for the plan's weights"), std::string::npos) << e.what();
  }
  fake_->memory = std::size_t{1} << 30;
  EXPECT_NO_THROW(Engine::load(path.string(), {.device = cat("cuda:", FakeDriver::kOrdinal)}));
  std::filesystem::remove(path);
}

TEST_F(FakeGpu, APlanForAnotherArchitectureIsRefusedWithBothNamed) {
  plan::Plan other = runtime::state_of(*engine_)->plan;
  other.device.arch = 80, other.device.name = "another GPU";
  const std::filesystem::path path = std::filesystem::temp_directory_path() / cat("tenfold_fake_gpu_", ::getpid(), ".plan");
  plan::save(other, path.string());
  try {
    Engine::load(path.string(), {.device = cat("cuda:", FakeDriver::kOrdinal)});
    ADD_FAILURE() << "it was opened";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::plan_refused);
    for (const char* name : {"another GPU", "sm_80", "a GPU that is none", "sm_90"})
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
  }
  std::filesystem::remove(path);
}

TEST_F(FakeGpu, APlanForAnotherArchitectureIsTunedAgainWhenAsked) {
  plan::Plan other = runtime::state_of(*engine_)->plan;
  other.device.arch = 80, other.device.name = "another GPU";
  const std::filesystem::path path = std::filesystem::temp_directory_path() / cat("tenfold_fake_gpu_", ::getpid(), ".plan");
  plan::save(other, path.string());
  BuildConfig config;
  config.device = cat("cuda:", FakeDriver::kOrdinal), config.optimization_level = 0;
  config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
  const Engine tuned = retune_file(path.string(), config);
  EXPECT_EQ(runtime::state_of(tuned)->plan.device.arch, 90);
  EXPECT_NO_THROW(tuned.create_context()->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 6}, 1)}));
  std::filesystem::remove(path);
}

// What it computes is tested where kernels compute: unknown_sizes_test.
TEST_F(FakeGpu, TheHostDecidesInLoopsAndSaysSo) {
  const Engine looped = engine(R"((x f32[batch,6], m i64[])
    y = Loop(m, _, x) carried=1 graphs=[
      (i i64[], go bool[], s f32[batch,6])
        t = Relu(s)
        return go, t
    ]
    return y)");
  EXPECT_TRUE(looped.info().waits_in_run);
  EXPECT_NE(looped.inspect(0).find("condition copied after each iteration, the host decides"), std::string::npos) << looped.inspect(0);
  const auto context = looped.create_context();
  Tensor m(DType::i64, {});
  *m.mutable_data<std::int64_t>() = 3;
  EXPECT_NO_THROW(context->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 6}, 1), m}));
}

// What lies at misaligned addresses in the arena has its kernels from the build, as what callers have at such addresses
// has: that is staged.
TEST_F(FakeGpu, NothingIsCompiledInARun) {
  constexpr const char* kProduct = R"((x f16[8193], w f16[64,64]!)
    from = i64[1]{1}
    to = i64[1]{8193}
    axis = i64[1]{0}
    rows = i64[2]{128,64}
    r = Relu(x)
    s = Slice(r, from, to, axis)
    a = Reshape(s, rows)
    y = MatMul(a, w))";
  constexpr const char* kConvolution = R"((x f16[8193], w f16[64,8,3,3]!)
    from = i64[1]{1}
    to = i64[1]{8193}
    axis = i64[1]{0}
    planes = i64[4]{1,8,32,32}
    r = Relu(x)
    s = Slice(r, from, to, axis)
    a = Reshape(s, planes)
    y = Conv(a, w) pads=[1,1,1,1])";
  constexpr const char* kAttention = R"((x f16[batch,65,192])
    from = i64[1]{1}
    to = i64[1]{65}
    axis = i64[1]{1}
    heads = i64[4]{0,64,3,64}
    r = Relu(x)
    s = Slice(r, from, to, axis)
    a = Reshape(s, heads)
    b = Transpose(a) perm=[0,2,1,3]
    c = Transpose(a) perm=[0,2,3,1]
    d = MatMul(b, c)
    e = Softmax(d) axis=-1
    y = MatMul(e, b))";
  for (const char* text : {kProduct, kConvolution, kAttention})
    for (std::uint64_t choices = 1; choices <= 4; ++choices) {
      const Engine made = engine(text, choices);
      const std::int64_t compiled = backends::cuda::compilations();
      const auto context = made.create_context();
      for (std::int64_t batch : {1, 5, 8}) {
        if (text == kAttention) {
          ASSERT_TRUE(context->set_input_shape(0, Shape{batch, 65, 192}));
        }
        const std::int64_t in = text == kAttention ? batch * 65 * 192 * 2 : 8193 * 2, out = 1 << 18;
        const auto x = backend_->memory().allocate(in + 2), y = backend_->memory().allocate(out + 2);
        fake_->launches = 0;
        ASSERT_TRUE(context->bind(0, static_cast<std::byte*>(x.get()) + 2, in));
        ASSERT_TRUE(context->bind(1, static_cast<std::byte*>(y.get()) + 2, out));
        ASSERT_TRUE(context->run()) << made.inspect(1);
        if (batch == 1) {
          EXPECT_GE(fake_->launches, 2);   // later runs may replay that
        }
        EXPECT_EQ(backends::cuda::compilations(), compiled) << made.inspect(1);
      }
    }
}

// Of what GPU or driver must not be older, which number was found and which is needed.
TEST_F(FakeGpu, WhatIsTooOldIsRefusedWithBothNumbers) {
  const auto message = [] {
    try {
      backends::open_cuda(FakeDriver::kOrdinal - 1);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::device);
      return std::string(e.what());
    }
    return std::string("it was opened");
  };
  fake_->version = 11040;
  EXPECT_NE(message().find("CUDA 11.4"), std::string::npos) << message();
  EXPECT_NE(message().find("CUDA 11.8"), std::string::npos) << message();
  fake_->version = 13000, fake_->major = 6, fake_->minor = 1;
  EXPECT_NE(message().find("6.1"), std::string::npos) << message();
  EXPECT_NE(message().find("7.5"), std::string::npos) << message();
  std::string lacks;
  EXPECT_TRUE(backends::cuda_devices(lacks).empty());   // nor are such listed, and the reason is told
  EXPECT_NE(lacks.find("6.1"), std::string::npos) << lacks;
  EXPECT_NE(lacks.find("7.5"), std::string::npos) << lacks;
  fake_->major = 7, fake_->minor = 5;
  EXPECT_EQ(message(), "it was opened");
}

TEST_F(FakeGpu, AFailureIsData) {
  fake_->failure = 1;
  std::string words;
  try {
    backend_->memory().allocate(100);
    ADD_FAILURE() << "memory was granted";
  } catch (const Error& e) {
    words = e.what();
  }
  fake_->failure = 0;
  const std::optional<DeviceError> error = backends::cuda::last_failure(FakeDriver::kOrdinal);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->number, 1);
  EXPECT_EQ(error->symbol, "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(error->call, "cuMemAlloc");
  EXPECT_EQ(error->words, "some error");
  EXPECT_EQ(error->driver_version, 13000);
  EXPECT_NE(error->libraries.find("driver API 13.0"), std::string::npos) << error->libraries;
  for (const char* part : {"cuMemAlloc", "CUDA_ERROR_INVALID_VALUE (1)", "some error", "driver for CUDA 13.0", "allocating memory"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in: " << words;
  EXPECT_FALSE(backends::cuda::is_lost(FakeDriver::kOrdinal)) << "such an error passes";
}

// The last of all: the device stays lost for this process.
TEST_F(FakeGpu, ZLosingTheDeviceIsToldByEveryContextOfIt) {
  const auto first = engine_->create_context(), second = engine_->create_context();
  const Tensor x = ops::random_tensor(DType::f32, {3, 6}, 1);
  first->run(std::vector<Tensor>{x}), second->run(std::vector<Tensor>{x});
  fake_->failure = 719;
  const auto reported = [&](auto&& work) {
    try {
      work();
      ADD_FAILURE() << "it went on";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::device);
      EXPECT_NE(std::string(e.what()).find("start it again"), std::string::npos) << e.what();
    }
  };
  reported([&] { first->run(std::vector<Tensor>{x}); });
  const std::size_t ran = fake_->graphs_ran_on.size();
  reported([&] { second->run(std::vector<Tensor>{x}); });
  reported([&] { first->run(std::vector<Tensor>{x}); });
  EXPECT_EQ(fake_->graphs_ran_on.size(), ran) << "a lost device was given work";
  reported([&] { engine_->create_context(); });
  EXPECT_TRUE(backends::cuda::is_lost(FakeDriver::kOrdinal));
  fake_->failure = 0;   // whatever the driver says from here on
  reported([&] { engine_->create_context(); });
  reported([&] { backend_->memory().allocate(64); });
  const std::string bytes = plan::serialize(runtime::state_of(*engine_)->plan);
  for (const auto& runtime : {Runtime::of_process(), std::make_shared<Runtime>()})
    reported([&] { Engine::load(std::as_bytes(std::span(bytes)), {.device = cat("cuda:", FakeDriver::kOrdinal), .runtime = runtime}); });
  const DeviceHealth health = device_health(cat("cuda:", FakeDriver::kOrdinal));
  EXPECT_EQ(health.state, Health::lost);
  EXPECT_NE(health.reason.find("CUDA_ERROR_LAUNCH_FAILED (719)"), std::string::npos) << health.reason;
  EXPECT_EQ(fake_->graphs_ran_on.size(), ran);
  const std::optional<DeviceError> error = backends::cuda::last_failure(FakeDriver::kOrdinal);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->number, 719);
  EXPECT_EQ(error->symbol, "CUDA_ERROR_LAUNCH_FAILED");
  ASSERT_TRUE(second->bind(0, const_cast<void*>(x.raw()), x.bytes()));
  const Status status = second->enqueue();
  EXPECT_EQ(status.code, Status::device);
  EXPECT_NE(second->describe(status).find("start it again"), std::string::npos) << second->describe(status);
}

}  // namespace
}  // namespace tenfold
