// What a runtime owns of a GPU, on a driver that computes nothing: memory that stays for what comes, a limit, kernels, the driver's
// context.
#include "tenfold/runtime.h"

#include "on_a_fake_gpu.h"
#include "plan/write.h"
#include "runtime/context.h"
#include "tenfold/device_array.h"
#include "tenfold/device_stream.h"
#include "tenfold/dlpack.h"

namespace tenfold {
namespace {

using tests::FakeDriver;

class GpuRuntime : public tests::FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    if (!IsSkipped()) plan_ = plan::serialize(runtime::state_of(*engine_)->plan);
  }
  Engine load(const std::shared_ptr<Runtime>& runtime, bool code = true) const {
    return Engine::load(std::as_bytes(std::span(plan_)), load_options(runtime, code));
  }
  static LoadOptions load_options(const std::shared_ptr<Runtime>& runtime, bool code) {
    LoadOptions options;
    options.device = device(), options.device_code = code, options.runtime = runtime;
    return options;
  }
  static std::string device() { return cat("cuda:", FakeDriver::kOrdinal); }
  static GpuMemory memory_of(const Runtime& runtime) {
    const std::vector<GpuMemory> all = runtime.gpu_memory();
    return all.empty() ? GpuMemory{} : all[0];
  }
  std::string plan_;
};

// Memory of the fake driver's, counted.
class Counting : public DeviceAllocator {
 public:
  void* allocate(std::int64_t bytes, std::int64_t, std::string_view device) noexcept override {
    backends::cuda::DevicePointer made = 0;
    if (refuses || device != cat("cuda:", FakeDriver::kOrdinal) ||
        backends::cuda::driver()->allocate(&made, static_cast<std::size_t>(bytes)) != backends::cuda::kSuccess)
      return nullptr;
    ++live;
    return reinterpret_cast<void*>(made);
  }
  void release(void* memory) noexcept override {
    --live;
    backends::cuda::driver()->release(reinterpret_cast<backends::cuda::DevicePointer>(memory));
  }
  int live = 0;
  bool refuses = false;
};

TEST_F(GpuRuntime, AnAllocatorOfTheCallersGivesAllDeviceMemory) {
  const auto allocator = std::make_shared<Counting>();
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.log = {}, .allocator = allocator});
  {
    const Engine engine = load(runtime);
    const int weights = allocator->live;
    EXPECT_GT(weights, 0);
    auto context = engine.create_context();
    EXPECT_GT(allocator->live, weights);
    EXPECT_EQ(memory_of(*runtime).used_bytes, 0) << "the GPU's pool knows of nothing";
    EXPECT_GT(engine.gpu_bytes(), 0);
    context->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 6}, 1)});
    context.reset();
    EXPECT_EQ(allocator->live, weights);
    allocator->refuses = true;
    EXPECT_THROW(engine.create_context(), Error);
  }
  EXPECT_EQ(allocator->live, 0);
}

TEST_F(GpuRuntime, FreedMemoryStaysUntilItIsTrimmed) {
  const auto runtime = std::make_shared<Runtime>();
  EXPECT_TRUE(runtime->gpu_memory().empty()) << "no engine of it opened a GPU";
  const std::size_t before = fake_->taken;
  const Engine engine = load(runtime);
  const std::int64_t weights = memory_of(*runtime).used_bytes;
  auto context = engine.create_context();
  const GpuMemory busy = memory_of(*runtime);
  EXPECT_EQ(busy.device, device());
  EXPECT_GT(busy.used_bytes, weights);
  EXPECT_EQ(engine.gpu_bytes(), busy.used_bytes);
  EXPECT_EQ(runtime->use().gpu_bytes, busy.used_bytes);
  context.reset();
  EXPECT_EQ(memory_of(*runtime).used_bytes, weights);
  EXPECT_EQ(memory_of(*runtime).max_used_bytes, busy.used_bytes);
  const std::int64_t held = memory_of(*runtime).held_bytes;
  EXPECT_GE(held, busy.used_bytes);
  EXPECT_EQ(runtime->use().gpu_held_bytes, held);
  const std::size_t taken = fake_->taken;
  context = engine.create_context();
  EXPECT_EQ(fake_->taken, taken) << "the second context did not take what the first had";
  context->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 6}, 1)});
  context.reset();
  EXPECT_GT(runtime->trim_gpu_memory(), 0);
  EXPECT_LT(fake_->taken, taken);
  EXPECT_EQ(runtime->trim_gpu_memory(), 0) << "there was nothing left";
  EXPECT_THROW(runtime->trim_gpu_memory(-1), Error);
  EXPECT_GE(fake_->taken, before);
}

TEST_F(GpuRuntime, ItEndsWithAllThatItHas) {
  const std::size_t taken = fake_->taken;
  const int contexts = fake_->contexts;
  {
    const auto runtime = std::make_shared<Runtime>();
    const Engine engine = load(runtime);
    engine.create_context()->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 6}, 1)});
    EXPECT_EQ(fake_->contexts, contexts + 1);
    EXPECT_EQ(fake_->pools.size(), 1u);
  }
  EXPECT_EQ(fake_->taken, taken);
  EXPECT_EQ(fake_->contexts, contexts) << "the driver's context is kept by nobody";
  EXPECT_TRUE(fake_->pools.empty());
}

// Memory of a context that outlives its runtime's other users stays what it is.
TEST_F(GpuRuntime, ContextsOutliveTheirRuntime) {
  std::unique_ptr<ExecutionContext> context;
  {
    const auto runtime = std::make_shared<Runtime>();
    context = load(runtime).create_context();
  }
  EXPECT_NO_THROW(context->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 6}, 1)}));
  context.reset();
  EXPECT_TRUE(fake_->pools.empty());
}

TEST_F(GpuRuntime, ALimitIsOneOfTheRuntimeAndIsNamed) {
  const auto free_one = std::make_shared<Runtime>();
  const Engine elsewhere = load(free_one);
  const auto there = elsewhere.create_context();
  const std::int64_t needed = memory_of(*free_one).used_bytes;
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.log = {}, .gpu_memory_limit = needed});
  const Engine engine = load(runtime);
  const auto first = engine.create_context();
  try {
    engine.create_context();
    ADD_FAILURE() << "a second context fits into the memory of one";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    for (const std::string& part : {cat("limit is ", needed), cat(needed, " are in use"), std::string("gpu_memory_limit")})
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << " in: " << e.what();
  }
  EXPECT_EQ(memory_of(*runtime).used_bytes, needed) << "the context that failed left memory behind";
  EXPECT_NO_THROW(elsewhere.create_context());
  EXPECT_THROW(Runtime(RuntimeOptions{.log = {}, .gpu_memory_limit = -1}), Error);
}

TEST_F(GpuRuntime, HowMuchIsKeptIsTheCallersChoice) {
  for (const std::int64_t kept : {-1, 64}) {
    const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.log = {}, .gpu_memory_kept = kept});
    const Engine engine = load(runtime);
    const std::size_t taken = fake_->taken;
    engine.create_context();
    EXPECT_EQ(fake_->taken, taken) << kept;
    EXPECT_EQ(fake_->pools.size(), kept > 0 ? 1u : 0u);
  }
  const std::size_t taken = fake_->taken;
  load(Runtime::of_process()).create_context();
  EXPECT_EQ(fake_->taken, taken) << "the process's own runtime keeps memory";
}

// Old drivers and some virtual GPUs have no pools.
TEST_F(GpuRuntime, WithoutTheDriversPoolsNothingIsKept) {
  fake_->has_pools = false;
  const auto runtime = std::make_shared<Runtime>();
  const Engine engine = load(runtime);
  const std::size_t taken = fake_->taken;
  engine.create_context()->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 6}, 1)});
  EXPECT_EQ(fake_->taken, taken);
  EXPECT_EQ(memory_of(*runtime).held_bytes, memory_of(*runtime).used_bytes);
  EXPECT_EQ(runtime->trim_gpu_memory(), 0);
}

// What is free but kept makes room before memory is said to lack.
TEST_F(GpuRuntime, KeptMemoryMakesRoom) {
  const auto runtime = std::make_shared<Runtime>();
  const Engine engine = load(runtime);
  runtime::state_of(engine)->backend->memory().allocate(1 << 20);
  EXPECT_GE(memory_of(*runtime).held_bytes, 1 << 20);
  fake_->memory = fake_->taken + 100;
  std::shared_ptr<void> larger;
  EXPECT_NO_THROW(larger = runtime::state_of(engine)->backend->memory().allocate((1 << 20) + 50));
  EXPECT_THROW(runtime::state_of(engine)->backend->memory().allocate(1 << 20), Error);
}

// Before memory is another's, all work that may still use it has ended.
TEST_F(GpuRuntime, MemoryIsFreedBehindAllWork) {
  const auto runtime = std::make_shared<Runtime>();
  const Engine engine = load(runtime);
  auto memory = runtime::state_of(engine)->backend->memory().allocate(4096);
  fake_->waits = 0;
  memory.reset();
  EXPECT_GE(fake_->waits, 1);
}

TEST_F(GpuRuntime, KernelsBelongToOneRuntime) {
  const auto compiled = [] { return backends::cuda::compilations(); };
  const auto first = std::make_shared<Runtime>(), second = std::make_shared<Runtime>();
  std::int64_t before = compiled();
  const Engine engine = load(first, false);
  const std::int64_t kernels = compiled() - before;
  EXPECT_GT(kernels, 0);
  before = compiled();
  const Engine again = load(first, false);
  EXPECT_EQ(compiled(), before) << "engines of one runtime share kernels";
  const Engine elsewhere = load(second, false);
  EXPECT_EQ(compiled(), before + kernels) << "two runtimes share none";
  EXPECT_NE(runtime::state_of(engine)->backend->info().opened, runtime::state_of(elsewhere)->backend->info().opened);
  EXPECT_EQ(runtime::state_of(engine)->backend->info().opened, runtime::state_of(again)->backend->info().opened);
}

TEST_F(GpuRuntime, ArraysAndStreamsOfCallersAreItsOwn) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.gpu_memory_limit = 1 << 20});
  const Engine engine = load(runtime);
  EXPECT_EQ(device_of(engine), device());
  const std::int64_t before = memory_of(*runtime).used_bytes;
  {
    DeviceArray x(device(), DType::f32, {8, 6}, runtime), y(device(), DType::f32, {8, 6}, runtime);
    EXPECT_EQ(x.device(), device());
    EXPECT_TRUE(x.on_gpu() && x.ordinal() == FakeDriver::kOrdinal && fake_->is_on_device(x.memory()));
    EXPECT_GE(memory_of(*runtime).used_bytes, before + 2 * 192);
    std::vector<float> in(48, 2), out(48, 1);
    y.copy_to(out.data(), 192);
    EXPECT_EQ(out, std::vector<float>(48, 0));
    DeviceStream stream(device(), runtime);
    ASSERT_NE(stream.handle(), nullptr);
    x.copy_from(in.data(), 192, stream.handle());
    y.copy_from(x.memory(), 192);
    y.copy_to(out.data(), 192);
    EXPECT_EQ(out, in);
    synchronize_stream(device(), stream.handle(), runtime);
    synchronize_stream(device(), nullptr, runtime);
    DLManagedTensorVersioned* tensor = to_dlpack(x);
    EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCUDA);
    EXPECT_EQ(tensor->dl_tensor.device.device_id, FakeDriver::kOrdinal);
    tensor->deleter(tensor);
    EXPECT_THROW(DeviceArray(device(), DType::u8, {1 << 20}, runtime), Error) << "the runtime's limit counts";
    fake_->failure = 1;   // one that takes nothing from the process
    EXPECT_THROW(x.copy_from(in.data(), 192), Error);
    fake_->failure = 0;
  }
  EXPECT_EQ(memory_of(*runtime).used_bytes, before);
}

// What is bound again is settled already, unless the address has become memory of another kind.
TEST_F(GpuRuntime, TheSameMemoryBoundAgain) {
  const auto context = engine_->create_context();
  set_batch(*context, 4);
  const runtime::ContextState& state = runtime::ContextAccess::of(*context);
  const std::shared_ptr<void> there = backend_->memory().allocate(192);
  std::vector<float> here(24, 1);
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_TRUE(context->bind(0, there.get(), 96) && context->bind(1, here.data(), 96));
    EXPECT_TRUE(state.bindings.changed);
    ASSERT_TRUE(context->run());
    ASSERT_TRUE(context->bind(0, there.get(), 96) && context->bind(1, here.data(), 96));
    set_batch(*context, 4);
    EXPECT_FALSE(state.bindings.changed || state.shapes.changed);
    ASSERT_TRUE(context->run());
    ASSERT_TRUE(context->bind(0, there.get(), 192)) << "other bytes are another binding";
    EXPECT_TRUE(state.bindings.changed);
    ASSERT_TRUE(context->run());
  }
  fake_->pinned.insert(here.data());
  ASSERT_TRUE(context->bind(1, here.data(), 96));
  EXPECT_TRUE(state.bindings.changed) << "it was pageable, and is pinned now";
  ASSERT_TRUE(context->run());
  ASSERT_TRUE(context->bind(1, here.data(), 96));
  EXPECT_FALSE(state.bindings.changed);
  fake_->pinned.erase(here.data());
  ASSERT_TRUE(context->bind(1, here.data(), 96));
  EXPECT_TRUE(state.bindings.changed);
  ASSERT_TRUE(context->run());
}

}  // namespace
}  // namespace tenfold
