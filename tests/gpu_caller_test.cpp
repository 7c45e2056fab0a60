// On a GPU: runs that become part of a caller's graph, and memory that a runtime keeps. Which calls that takes the fake driver's tests hold
// (gpu_capture_test, gpu_runtime_test); here is whether a driver takes them, and what comes out.
#include <cstring>

#include "on_a_gpu.h"
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

}  // namespace
}  // namespace tenfold
