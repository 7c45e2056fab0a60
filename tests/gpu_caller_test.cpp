// On a GPU: runs that become part of a caller's graph, and memory that a runtime keeps. Which calls that takes the fake driver's tests hold
// (gpu_capture_test, gpu_runtime_test); here is whether a driver takes them, and what comes out.
#include <cstring>
#include <thread>

#include "on_a_gpu.h"
#include "tenfold/pinned_memory.h"
#include "tenfold/runtime.h"

namespace tenfold {
namespace {

using namespace on_a_gpu;
using backends::cuda::DevicePointer;

DevicePointer at(void* p) { return reinterpret_cast<DevicePointer>(p); }

TEST_F(Gpu, ACapturedRunBelongsToTheCallersGraph) {
  const ir::Graph graph = small_graph();
  const Engine engine = built(graph, 64);
  const auto context = engine.create_context();
  const auto stream = new_stream();
  const std::int64_t in_bytes = 4 * 64 * 4, out_bytes = 4 * 10 * 4;
  backends::DeviceMemory& memory = backend_->memory();
  const auto in = memory.allocate(in_bytes), out = memory.allocate(out_bytes), pinned = memory.allocate_host(in_bytes);
  ASSERT_TRUE(context->set_input_shape(0, Shape{4, 64}));
  ASSERT_TRUE(context->bind(0, in.get(), in_bytes) && context->bind(1, out.get(), out_bytes));
  ASSERT_TRUE(context->prepare());
  backends::cuda::Graph recorded = nullptr;
  backends::cuda::GraphExec exec = nullptr;
  ASSERT_EQ(driver()->capture_begin(stream, backends::cuda::kCaptureThreadLocal), 0);
  ASSERT_EQ(driver()->copy(at(in.get()), at(pinned.get()), in_bytes, stream), 0);
  const Status status = context->enqueue(stream);
  ASSERT_TRUE(status) << context->describe(status);
  ASSERT_EQ(driver()->copy(at(pinned.get()), at(out.get()), out_bytes, stream), 0);
  ASSERT_EQ(driver()->capture_end(stream, &recorded), 0) << "the capture was broken";
  ASSERT_EQ(driver()->graph_instantiate(&exec, recorded, 0), 0);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Tensor x = ops::random_tensor(DType::f32, {4, 64}, seed);
    std::memcpy(pinned.get(), x.raw(), in_bytes);
    ASSERT_EQ(driver()->graph_launch(exec, stream), 0);
    ASSERT_EQ(driver()->stream_wait(stream), 0);
    expect_near(static_cast<const float*>(pinned.get()), expected(graph, x), "a launch of the caller's graph");
  }
  EXPECT_TRUE(context->run()) << "the context is its own again";
  driver()->graph_exec_destroy(exec), driver()->graph_destroy(recorded), driver()->stream_destroy(stream);
}

TEST_F(Gpu, ARuntimeKeepsMemoryUntilItIsTrimmed) {
  const ir::Graph graph = small_graph();
  // Contexts of 100 MiB: the driver gives back whole chunks of 32 MiB, and the weights in use keep theirs.
  const std::vector<std::byte> plan = built(graph, 64, 1 << 18).serialize();
  const auto runtime = std::make_shared<Runtime>();
  LoadOptions options;
  options.device = "cuda:0", options.runtime = runtime;
  const Engine engine = Engine::load(plan, options);
  const Tensor x = ops::random_tensor(DType::f32, {4, 64}, 5), reference = expected(graph, x);
  std::int64_t held = 0;
  for (int i = 0; i < 20; ++i) {
    expect_near(engine.create_context()->run(std::vector<Tensor>{x}).at(0).data<float>(), reference, "a context from kept memory");
    const GpuMemory memory = runtime->gpu_memory().at(0);
    EXPECT_LT(memory.used_bytes, memory.max_used_bytes);
    if (i == 0) held = memory.held_bytes;
    EXPECT_EQ(memory.held_bytes, held) << "context " << i << " took memory that was free";
  }
  const std::size_t before = free_bytes();
  const std::int64_t freed = runtime->trim_gpu_memory();
  EXPECT_GT(freed, 0);
  EXPECT_EQ(free_bytes(), before + static_cast<std::size_t>(freed));
  expect_near(engine.create_context()->run(std::vector<Tensor>{x}).at(0).data<float>(), reference, "after trimming");
}

// Large inputs and outputs in each kind of memory, of two contexts in two threads: pieces that one has filled are not the other's.
TEST_F(Gpu, LargeBindingsInEachKindOfMemory) {
  constexpr std::int64_t kSize = 3'000'001, kBytes = 4 * kSize;   // no whole number of pieces
  const ir::Graph graph = parsed("(x f32[3000001])\n y = Relu(x)");
  BuildConfig config;
  config.device = "cuda:0", config.optimization_level = 0;
  const Engine engine = builder::build_graph(graph, config);
  enum class Kind { pageable, pinned, registered };
  const auto runs = [&](Kind kind, std::uint64_t first) {
    std::vector<float> own_x(kSize), own_y(kSize);
    PinnedMemory x, y;
    if (kind == Kind::pinned) x = PinnedMemory("cuda:0", kBytes), y = PinnedMemory("cuda:0", kBytes);
    if (kind == Kind::registered)
      x = PinnedMemory::of_callers("cuda:0", own_x.data(), kBytes), y = PinnedMemory::of_callers("cuda:0", own_y.data(), kBytes);
    float* const in = kind == Kind::pageable ? own_x.data() : static_cast<float*>(x.memory());
    float* const out = kind == Kind::pageable ? own_y.data() : static_cast<float*>(y.memory());
    const auto context = engine.create_context();
    ASSERT_TRUE(context->bind(0, in, kBytes) && context->bind(1, out, kBytes));
    for (std::uint64_t seed = first; seed < first + 8; ++seed) {
      for (std::int64_t i = 0; i < kSize; ++i) in[i] = static_cast<float>((i * 31 + static_cast<std::int64_t>(seed) * 77) % 1009 - 500);
      const Status status = context->run();
      ASSERT_TRUE(status) << context->describe(status);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < kSize; ++i) wrong += out[i] != std::max(in[i], 0.0f);
      ASSERT_EQ(wrong, 0) << "of " << kSize << " elements, run " << seed << ", kind of memory " << static_cast<int>(kind);
    }
  };
  using Pair = std::pair<Kind, Kind>;
  for (const auto& [one, other] :
       {Pair{Kind::pageable, Kind::pageable}, Pair{Kind::pageable, Kind::pinned}, Pair{Kind::registered, Kind::pinned}}) {
    std::thread beside(runs, other, 1000);
    runs(one, 1);
    beside.join();
  }
}

TEST_F(Gpu, RegisteredMemoryIsToldOfOnce) {
  std::vector<char> memory(10 << 20);
  const auto bytes = static_cast<std::int64_t>(memory.size());
  const auto kind = [&] { return backend_->memory().kind_of(memory.data()); };
  for (int turn = 0; turn < 2; ++turn) {
    const PinnedMemory registered = PinnedMemory::of_callers("cuda:0", memory.data(), bytes);
    EXPECT_EQ(kind(), backends::MemoryKind::pinned);
    EXPECT_THROW(PinnedMemory::of_callers("cuda:0", memory.data(), bytes), Error);
    EXPECT_EQ(kind(), backends::MemoryKind::pinned) << "the second attempt ended the first one's";
  }
  EXPECT_EQ(kind(), backends::MemoryKind::pageable);
}

}  // namespace
}  // namespace tenfold
