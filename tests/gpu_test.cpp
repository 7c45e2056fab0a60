// What only a GPU shows: runs on callers' streams, in callers' memory, beside each other, and after a kernel has failed.
// Where there is none every test is skipped, with the reason.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/launch.h"
#include "on_a_gpu.h"
#include "runtime/engine/opened.h"

namespace tenfold {
namespace {

using namespace on_a_gpu;

TEST_F(Gpu, EightContextsOnEightThreads) {
  const ir::Graph graph = small_graph();
  const Engine engine = built(graph, 64);
  std::vector<std::jthread> threads;
  std::atomic<long> runs = 0, wrong = 0;
  const auto until = Clock::now() + std::chrono::milliseconds(static_cast<int>(seconds_for(5) * 1000));
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const auto context = engine.create_context();
      std::vector<Tensor> inputs, references;
      for (std::int64_t batch : {1, 3, 8})
        inputs.push_back(ops::random_tensor(DType::f32, {batch, 64}, static_cast<std::uint64_t>(100 * t + batch))),
            references.push_back(expected(graph, inputs.back()));
      for (std::size_t i = 0; Clock::now() < until; ++i) {
        const Tensor got = context->run(std::vector<Tensor>{inputs[i % 3]}).at(0), &reference = references[i % 3];
        bool right = got.shape() == reference.shape();
        for (std::int64_t e = 0; right && e < reference.size(); ++e) right = std::abs(got.as_double(e) - reference.as_double(e)) < 1e-4;
        ++runs, wrong += !right;
      }
    });
  threads.clear();
  std::printf("%ld runs\n", runs.load());
  EXPECT_GT(runs, 100);
  EXPECT_EQ(wrong, 0);
}

TEST_F(Gpu, RunsInCallersMemoryOnCallersStream) {
  const ir::Graph graph = small_graph();
  const Engine engine = built(graph, 64);
  EXPECT_FALSE(engine.info().waits_in_run);
  const std::int64_t compiled = backends::cuda::compilations();
  const auto context = engine.create_context();
  const auto stream = new_stream();
  for (std::int64_t batch : {2, 8, 2}) {
    ASSERT_TRUE(context->set_input_shape(0, Shape{batch, 64}));
    for (int place = 0; place < 7; ++place) {  // more addresses than there are graphs of one shape; the last is not aligned
      const Tensor x = ops::random_tensor(DType::f32, {batch, 64}, static_cast<std::uint64_t>(place + 10 * batch)),
                   reference = expected(graph, x);
      const std::int64_t shift = place == 6 ? 4 : 0;
      const auto in = backend_->memory().allocate(x.bytes() + shift), out = backend_->memory().allocate(reference.bytes() + shift);
      auto *in_at = static_cast<char*>(in.get()) + shift, *out_at = static_cast<char*>(out.get()) + shift;
      const auto pinned = backend_->memory().allocate_host(std::max(x.bytes(), reference.bytes()));
      ASSERT_TRUE(context->bind(0, in_at, x.bytes()));
      ASSERT_TRUE(context->bind(1, out_at, reference.bytes()));
      ASSERT_TRUE(context->prepare());
      std::memcpy(pinned.get(), x.raw(), static_cast<std::size_t>(x.bytes()));
      const auto at = [](void* p) { return reinterpret_cast<backends::cuda::DevicePointer>(p); };
      ASSERT_EQ(driver()->copy(at(in_at), at(pinned.get()), static_cast<std::size_t>(x.bytes()), stream), 0);
      const Status status = context->enqueue(stream);
      ASSERT_TRUE(status) << context->describe(status);
      ASSERT_EQ(driver()->copy(at(pinned.get()), at(out_at), static_cast<std::size_t>(reference.bytes()), stream), 0);
      ASSERT_EQ(driver()->stream_wait(stream), 0);
      expect_near(static_cast<const float*>(pinned.get()), reference, "in the GPU's memory");
      ASSERT_TRUE(context->wait());
    }
  }
  // The host's memory, on no stream in particular, then a plain run: all in one context.
  const Tensor x = ops::random_tensor(DType::f32, {2, 64}, 77), reference = expected(graph, x);
  std::vector<float> y(static_cast<std::size_t>(reference.size()));
  ASSERT_TRUE(context->bind(0, const_cast<void*>(x.raw()), x.bytes()));
  ASSERT_TRUE(context->bind(1, y.data(), reference.bytes()));
  ASSERT_TRUE(context->enqueue());
  ASSERT_TRUE(context->wait());
  expect_near(y.data(), reference, "in pageable memory");
  std::fill(y.begin(), y.end(), 0.f);
  ASSERT_TRUE(context->run());
  expect_near(y.data(), reference, "in a run");
  EXPECT_EQ(backends::cuda::compilations(), compiled) << "kernels of runs";
  driver()->stream_destroy(stream);
}

// A chain of products that leaves most of the GPU idle.
ir::Graph long_graph(int steps) {
  std::string text = "(x f32[batch,1024], w f32[1024,1024]!)\n";
  for (int i = 0; i < steps; ++i)
    text += "    " + std::string(i % 2 ? "a" : "b") + std::to_string(i) + " = MatMul(" +
            (i ? std::string(i % 2 ? "b" : "a") + std::to_string(i - 1) : "x") + ", w)\n";
  return parsed(text);
}

TEST_F(Gpu, TwoContextsOverlapAndEnqueueDoesNotWait) {
  const Engine engine = built(long_graph(200), 1024, 2);
  std::unique_ptr<ExecutionContext> contexts[2];
  backends::cuda::StreamHandle streams[2];
  for (int i = 0; i < 2; ++i) {
    contexts[i] = engine.create_context(), streams[i] = new_stream();
    ASSERT_TRUE(contexts[i]->set_input_shape(0, Shape{1, 1024}));
    std::memset(contexts[i]->own_memory(0), 0, 4096);
    contexts[i]->own_memory(1);
    ASSERT_TRUE(contexts[i]->prepare());
  }
  const auto time_of = [&](int count, double* enqueue_ms) {
    double best = 1e9;
    for (int again = 0; again < 5; ++again) {
      const auto start = Clock::now();
      for (int round = 0; round < 5; ++round)
        for (int i = 0; i < count; ++i) EXPECT_TRUE(contexts[i]->enqueue(streams[i]));
      if (enqueue_ms) *enqueue_ms = std::min(*enqueue_ms, ms_since(start));
      for (int i = 0; i < count; ++i) EXPECT_TRUE(contexts[i]->wait());
      best = std::min(best, ms_since(start));
    }
    return best;
  };
  double enqueue_ms = 1e9;
  const double one = time_of(1, &enqueue_ms), two = time_of(2, nullptr);
  std::printf("five runs: one context %.2f ms (asked for in %.3f), two %.2f ms\n", one, enqueue_ms, two);
  EXPECT_LT(two, 1.6 * one) << "two contexts wait for each other";
  EXPECT_LT(enqueue_ms, 0.5 * one) << "enqueue() waits";
  for (const auto stream : streams) driver()->stream_destroy(stream);
}

// Batches that are broadcast, and rows, columns and terms of no known number: our own kernels take them, and the same one every time.
TEST_F(Gpu, ProductsWhoseSizesOnlyARunKnows) {
  const ir::Graph graph = parsed(R"((q f32[b,3,m,16], k f32[b,1,16,n], c f32[16]!)
    s = MatMul(q, k)
    r = Relu(s)
    t = Transpose(k) perm=[0,1,3,2]
    o = MatMul(r, t)
    y = Add(o, c))");
  BuildConfig config;
  config.device = "cuda:0", config.tf32 = false, config.optimization_level = 0;
  config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
  config.profiles = {{{"q", {{1, 3, 1, 16}, {2, 3, 30, 16}, {4, 3, 300, 16}}}, {"k", {{1, 1, 16, 1}, {2, 1, 16, 40}, {4, 1, 16, 300}}}}};
  const Engine engine = builder::build_graph(graph, config);
  const auto context = engine.create_context();
  for (const std::int64_t b : {1, 4})
    for (const std::int64_t m : {1, 77, 300})
      for (const std::int64_t n : {1, 64, 131, 300}) {
        const Tensor q = ops::random_tensor(DType::f32, {b, 3, m, 16}, 3), k = ops::random_tensor(DType::f32, {b, 1, 16, n}, 4);
        const Tensor reference = std::get<Tensor>(ops::run_graph(graph, {q, k}).at(0)), got = context->run(std::vector<Tensor>{q, k}).at(0);
        ASSERT_EQ(got.shape(), reference.shape());
        for (std::int64_t i = 0; i < reference.size(); ++i)
          ASSERT_NEAR(got.as_double(i), reference.as_double(i), 1e-3) << b << " x " << m << " x " << n << ", element " << i;
      }
}

// Groups, several of which one product takes, and phases of windows that overlap, with what follows them.
TEST_F(Gpu, GroupedAndTransposedConvolutionsWithWhatFollowsThem) {
  const ir::Graph graph = parsed(R"((x f16[b,64,9,11], r f16[b,48,19,22], w f16[96,8,3,3]!, c f16[96]!, v f16[96,6,4,4]!, d f16[48]!)
    h = Conv(x, w, c) group=8 pads=[1,1,1,1]
    i = Relu(h)
    t = ConvTranspose(i, v, d) group=8 strides=[2,2] pads=[1,1,1,1] output_padding=[1,0]
    s = Add(t, r)
    y = Relu(s))");
  BuildConfig config;
  config.device = "cuda:0", config.optimization_level = 0;
  config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
  config.profiles = {{{"x", {{1, 64, 9, 11}, {2, 64, 9, 11}, {5, 64, 9, 11}}}, {"r", {{1, 48, 19, 22}, {2, 48, 19, 22}, {5, 48, 19, 22}}}}};
  const Engine engine = builder::build_graph(graph, config);
  const auto context = engine.create_context();
  for (const std::int64_t b : {1, 5}) {
    const Tensor x = ops::random_tensor(DType::f16, {b, 64, 9, 11}, 3), r = ops::random_tensor(DType::f16, {b, 48, 19, 22}, 4);
    const Tensor reference = std::get<Tensor>(ops::run_graph(graph, {x, r}).at(0)), got = context->run(std::vector<Tensor>{x, r}).at(0);
    ASSERT_EQ(got.shape(), reference.shape());
    for (std::int64_t i = 0; i < reference.size(); ++i)
      ASSERT_NEAR(got.as_double(i), reference.as_double(i), 0.05 + 0.01 * std::abs(reference.as_double(i)))
          << "batch " << b << ", element " << i;
  }
}

// Rows of bytes, more of them than 32-bit indices count: counts up to 2^30 take a narrower kernel, which is in the operator's cases.
TEST_F(Gpu, PadOfMoreElementsThan32BitsCount) {
  constexpr std::int64_t kWidth = 65536, kWide = kWidth + 3, kShifts = 997;
  if (free_bytes() < std::size_t{24} << 30) GTEST_SKIP() << "24 GB of the GPU's memory are wanted";
  const Engine engine = built(parsed(R"((x u8[batch,65536])
    counts = i64[4]{0,1,0,2}
    fill = u8[]{7}
    y = Pad(x, counts, fill))"), kWidth, 66000);
  const auto context = engine.create_context();
  const Tensor pattern = ops::random_tensor(DType::u8, {kWidth + kShifts}, 3, 0, 255);
  const auto row_of = [&](std::int64_t row) { return pattern.data<std::uint8_t>() + row * 31 % kShifts; };
  const auto at = [](void* p, std::int64_t offset) {
    return reinterpret_cast<backends::cuda::DevicePointer>(static_cast<std::byte*>(p) + offset);
  };
  const auto x = backend_->memory().allocate(66000 * kWidth), y = backend_->memory().allocate(66000 * kWide);
  const auto stream = new_stream();
  const auto whole = backend_->memory().allocate_host(pattern.bytes());
  std::memcpy(whole.get(), pattern.raw(), static_cast<std::size_t>(pattern.bytes()));
  for (std::int64_t row = 0; row < 66000; ++row)
    ASSERT_EQ(driver()->copy(at(x.get(), row * kWidth), at(whole.get(), row * 31 % kShifts), kWidth, stream), 0);
  ASSERT_EQ(driver()->stream_wait(stream), 0);
  const auto got = backend_->memory().allocate_host(kWide);
  for (const std::int64_t rows : {16500, 66000}) {   // beyond 2^30 and beyond 2^32 elements
    ASSERT_TRUE(context->set_input_shape(0, Shape{rows, kWidth}));
    ASSERT_TRUE(context->bind(0, x.get(), rows * kWidth));
    ASSERT_TRUE(context->bind(1, y.get(), rows * kWide));
    const Status status = context->run();
    ASSERT_TRUE(status) << context->describe(status);
    for (std::int64_t row = 0; row < rows; row = row == rows - 1 ? rows : std::min(row + 331, rows - 1)) {
      ASSERT_EQ(driver()->copy(at(got.get(), 0), at(y.get(), row * kWide), kWide, stream), 0);
      ASSERT_EQ(driver()->stream_wait(stream), 0);
      const auto* bytes = static_cast<const std::uint8_t*>(got.get());
      ASSERT_TRUE(bytes[0] == 7 && bytes[kWide - 2] == 7 && bytes[kWide - 1] == 7) << "row " << row << " of " << rows;
      ASSERT_EQ(std::memcmp(bytes + 1, row_of(row), kWidth), 0) << "row " << row << " of " << rows;
    }
  }
  driver()->stream_destroy(stream);
}

// In a process of its own, for it loses the GPU. 0: all was as it should be.
int lose_the_gpu() {
  using namespace backends::cuda;
  const auto say = [](const char* what) { return std::fprintf(stderr, "%s\n", what), 1; };
  const ir::Graph graph = small_graph();
  const Engine engine = built(graph, 64);
  BuildConfig on_cpu;
  on_cpu.optimization_level = 0;
  on_cpu.profiles = {{{"x", {{1, 64}, {2, 64}, {8, 64}}}}};
  const Engine cpu = builder::build_graph(graph, on_cpu);
  const auto first = engine.create_context(), second = engine.create_context(), other = cpu.create_context();
  const Tensor x = ops::random_tensor(DType::f32, {4, 64}, 5), reference = expected(graph, x);
  first->run(std::vector<Tensor>{x}), second->run(std::vector<Tensor>{x});
  Device& device = device_of(runtime::state_of(engine)->backend->info());
  Queue queue(device);
  backends::Opening opening;
  const auto module = device.load("extern \"C\" __global__ void fails(int) { __trap(); }\n", opening);
  if (launch(queue, module->function("fails"), {1}, 1, 0, &queue) != Status::ok) return say("the kernel was not launched");
  for (ExecutionContext* context : {first.get(), second.get(), first.get()}) {
    try {
      context->run(std::vector<Tensor>{x});
      return say("a context went on as if nothing had been");
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::device || !std::strstr(e.what(), "start it again")) return say(e.what());
    }
  }
  try {
    engine.create_context();
    return say("a context was made on a lost device");
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::device || !std::strstr(e.what(), "start it again")) return say(e.what());
  }
  const Tensor got = other->run(std::vector<Tensor>{x}).at(0);
  for (std::int64_t i = 0; i < reference.size(); ++i)
    if (std::abs(got.as_double(i) - reference.as_double(i)) > 1e-4) return say("the CPU's answer is wrong");
  return 0;
}

TEST_F(Gpu, AFailedKernelTakesTheGpuAndNothingElse) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("TENFOLD_LOSE_THE_GPU", "1", 1);
    ::execl("/proc/self/exe", "gpu_test", "--gtest_filter=LoseTheGpu.*", nullptr);
    ::_exit(127);
  }
  int status = 0;
  const auto until = Clock::now() + std::chrono::seconds(60);
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0 && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (ended == 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    FAIL() << "the process hangs";
  }
  EXPECT_TRUE(WIFEXITED(status)) << "the process died of signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
TEST(LoseTheGpu, InAProcessOfItsOwn) {
  if (!std::getenv("TENFOLD_LOSE_THE_GPU")) GTEST_SKIP() << "Gpu.AFailedKernelTakesTheGpuAndNothingElse starts this";
  EXPECT_EQ(lose_the_gpu(), 0);
}

TEST_F(Gpu, NormsTakeAsManyRowsAsDataSay) {
  const ir::Graph graph = parsed(R"((row f32[1,64], to i64[2], w f32[64], b f32[64])
    x = Expand(row, to)
    n = LayerNormalization(x, w, b)
    y = Tanh(n))");
  BuildConfig config;
  config.device = "cuda:0", config.optimization_level = 0;
  const auto context = builder::build_graph(graph, config).create_context();
  std::vector<Tensor> inputs{ops::random_tensor(DType::f32, {1, 64}, 1), Tensor(DType::i64, {2}), ops::random_tensor(DType::f32, {64}, 2),
                             ops::random_tensor(DType::f32, {64}, 3)};
  for (const std::int64_t rows : {5, 1, 700}) {
    inputs[1].mutable_data<std::int64_t>()[0] = rows, inputs[1].mutable_data<std::int64_t>()[1] = 64;
    const Tensor reference = std::get<Tensor>(ops::run_graph(graph, {inputs.begin(), inputs.end()}).at(0)),
                 got = context->run(inputs).at(0);
    ASSERT_EQ(got.shape(), reference.shape());
    expect_near(got.data<float>(), reference, cat(rows, " rows"));
  }
}

}  // namespace
}  // namespace tenfold
