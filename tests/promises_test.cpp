// What an engine promises besides right numbers: the same plan again, the same bits with any threads, contexts that do not meet, no
// allocation.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <random>
#include <thread>

#include "backends/cpu/cpu_info.h"
#include "base/files/file.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace {
std::atomic<long> allocations = 0;
}
// Not inlined: GCC 12 would warn of the free() that it sees.
[[gnu::noinline]] void* operator new(std::size_t n) {
  ++allocations;
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace tenfold {
namespace {

ir::Graph network() {
  return ir::parse_graph(R"((x f32[batch,3,12,12], w f32[16,3,3,3]!, b f32[16]!, v f32[16,16,3,3]!, m f32[16,10]!)
    shape = i64[2]{-1,16}
    c = Conv(x, w, b) pads=[1,1,1,1]
    d = Relu(c)
    e = Conv(d, v) pads=[1,1,1,1]
    f = Add(e, d)
    g = GlobalAveragePool(f)
    h = Reshape(g, shape)
    i = MatMul(h, m)
    y = Softmax(i) axis=-1)",
                         ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}
BuildConfig config(int threads) {
  BuildConfig c;
  c.threads = threads;
  c.optimization_level = 1;
  c.profiles = {{{"x", {{1, 3, 12, 12}, {2, 3, 12, 12}, {4, 3, 12, 12}}}}};
  return c;
}
Tensor input(std::uint64_t seed) { return ops::random_tensor(DType::f32, {4, 3, 12, 12}, seed); }
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && !std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.bytes()));
}

class Promises : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(path_); }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string at(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("tenfold_promises_" + std::to_string(std::random_device{}()));
};

TEST_F(Promises, SameTimingCacheSamePlan) {
  BuildConfig c = config(1);
  c.timing_cache = at("times");
  builder::build_graph(network(), c).save(at("warm"));
  BuildReport report;
  builder::build_graph(network(), c, "", &report).save(at("again"));
  EXPECT_EQ(report.timed, 0);
  EXPECT_TRUE(read_file(at("warm")) == read_file(at("again")));
}

// What --bf16 narrows has a kernel for it: the reference kernels are hundreds of times slower.
TEST_F(Promises, Bf16NeedsNoReferenceKernel) {
  const ir::Graph graph = ir::parse_graph(
      R"((x f32[2,8,12,12], w f32[32,8,3,3]!, d f32[32,1,3,3]!, g f32[32,4,3,3]!, t f32[32,16,2,2]!, s f32[16]!)
    a = Conv(x, w) pads=[1,1,1,1]
    b = Conv(a, d) pads=[1,1,1,1] group=32
    c = Conv(b, g) pads=[1,1,1,1] group=8
    e = MaxPool(c) kernel_shape=[2,2] strides=[2,2]
    f = ConvTranspose(e, t) strides=[2,2]
    h = Transpose(f) perm=[0,2,3,1]
    n = LayerNormalization(h, s, s)
    m = Transpose(n) perm=[0,1,3,2]
    p = MatMul(n, m)
    q = Softmax(p)
    y = MatMul(q, n))",
      ir::Registry::builtin(),
      {.random_constant = [](DType dtype, const Shape& shape, std::uint64_t seed) { return ops::random_tensor(dtype, shape, seed); }});
  BuildConfig c;
  c.bf16 = true;
  const Engine engine = builder::build_graph(graph, c);
  EXPECT_EQ(engine.inspect(0).find(" reference"), std::string::npos) << engine.inspect(0);
  const Tensor x = ops::random_tensor(DType::f32, {2, 8, 12, 12}, 1);
  const Tensor got = engine.create_context()->run({x})[0], expected = std::get<Tensor>(ops::run_graph(graph, {x})[0]);
  double worst = 0, largest = 1e-30;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(got.as_double(i) - expected.as_double(i)));
    largest = std::max(largest, std::abs(expected.as_double(i)));
  }
  EXPECT_LE(worst, 5e-2 * largest);
}

TEST_F(Promises, NoTf32LeavesOutWhatRounds) {
  for (const bool allowed : {true, false}) {
    BuildConfig c = config(1);
    c.tf32 = allowed;
    BuildReport report;
    builder::build_graph(network(), c, "", &report);
    std::map<std::string, int> refused = {{"conv_winograd", 0}, {"matmul_gemv_f24", 0}, {"matmul_gemv_s16", 0}, {"matmul_strassen", 0}};
    if (backends::cpu::this_cpu().features & backends::kAmxBf16) refused["matmul_amx_split"] = refused["matmul_amx_s24"] = 0;
    for (const StepReport& step : report.steps) {
      for (const TacticReport& t : step.tried) {
        if (!refused.contains(t.tactic)) continue;
        refused[t.tactic] += t.verdict.find("--noTF32") != std::string::npos;
        EXPECT_FALSE(t.chosen && !allowed) << step.problem;
      }
    }
    for (const auto& [tactic, count] : refused) EXPECT_EQ(count > 0, !allowed) << tactic;
  }
}

// The second build competes with more busy threads than there are processors: with every time in the cache nothing may depend on a clock.
TEST_F(Promises, SamePlanUnderLoad) {
  BuildConfig c = config(2);
  c.timing_cache = at("times");
  c.optimization_level = 3;
  builder::build_graph(network(), c).save(at("first"));
  const std::string quiet_times = read_file(at("times"));
  builder::build_graph(network(), c).save(at("quiet"));
  std::atomic<bool> stop = false;
  std::vector<std::thread> load;
  for (unsigned t = 0; t < 2 * std::max(std::thread::hardware_concurrency(), 2u); ++t)
    load.emplace_back([&] { while (!stop) std::this_thread::yield(); });
  BuildReport report;
  builder::build_graph(network(), c, "", &report).save(at("loaded"));
  stop = true;
  for (std::thread& t : load) t.join();
  EXPECT_EQ(report.timed, 0);
  EXPECT_TRUE(read_file(at("quiet")) == read_file(at("loaded")));
  EXPECT_TRUE(read_file(at("first")) == read_file(at("loaded")));
  EXPECT_EQ(read_file(at("times")), quiet_times);
}

TEST_F(Promises, SameBitsWithAnyThreads) {
  builder::build_graph(network(), config(1)).save(at("plan"));
  const Tensor one = Engine::load(at("plan"), {.threads = 1}).create_context()->run({input(1)})[0];
  for (const int threads : {2, 3, 8})
    EXPECT_TRUE(same_bits(Engine::load(at("plan"), {.threads = threads}).create_context()->run({input(1)})[0], one)) << threads;
}

// Recurrent layers side by side hand rows to each other within a step.
TEST_F(Promises, LayersSideBySideGiveTheSameBits) {
  const ir::Graph layers =
      ir::parse_graph(R"((x f32[40,2,24], w f32[1,128,24]!, r f32[1,128,32]!, v f32[1,128,32]!, s f32[1,128,32]!)
    k = i64[1]{1}
    a = LSTM(x, w, r)
    b = Squeeze(a, k)
    c = LSTM(b, v, s)
    d = Squeeze(c, k)
    y = LSTM(d, s, r))",
                      ir::Registry::builtin(),
                      {.random_constant = [](DType d, const Shape& shape, std::uint64_t n) { return ops::random_tensor(d, shape, n); }});
  BuildConfig untimed;
  untimed.threads = 2, untimed.optimization_level = 0;  // which takes fused operators as they are
  const Engine engine = builder::build_graph(layers.clone(), untimed);
  engine.save(at("layers"));
  EXPECT_EQ(engine.info().steps, 1);
  const Tensor x = ops::random_tensor(DType::f32, {40, 2, 24}, 1);
  const Tensor one = Engine::load(at("layers"), {.threads = 1}).create_context()->run({x})[0];
  for (const int threads : {2, 3, 8}) {
    const Engine shared = Engine::load(at("layers"), {.threads = threads});
    std::atomic<int> wrong = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 2; ++caller)
      callers.emplace_back([&] {
        const auto context = shared.create_context();
        for (int round = 0; round < 50; ++round) wrong += !same_bits(context->run({x})[0], one);
      });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0) << threads;
  }
}

TEST_F(Promises, ContextsDoNotMeet) {
  const Engine engine = builder::build_graph(network(), config(1));
  std::vector<Tensor> expected;
  for (std::uint64_t t = 0; t < 8; ++t) expected.push_back(engine.create_context()->run({input(t)})[0]);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const auto context = engine.create_context();
      for (int round = 0; round < 20; ++round) wrong += !same_bits(context->run({input(t)})[0], expected[t]);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Promises, SteadyRunsAllocateNothing) {
  const Engine engine = builder::build_graph(network(), config(1));
  ASSERT_FALSE(engine.info().allocates_in_run);
  const auto context = engine.create_context();
  Tensor large = input(1);
  const Shape small = {2, 3, 12, 12};
  ASSERT_TRUE(static_cast<bool>(context->set_input_shape(0, large.shape())));
  ASSERT_TRUE(static_cast<bool>(context->bind(0, large.mutable_raw(), large.bytes())));
  context->own_memory(1);
  ASSERT_TRUE(static_cast<bool>(context->run()));
  const long before = allocations;
  for (int i = 0; i < 10; ++i) {
    const Status set =
        context->set_input_shape(0, i % 2 ? std::span<const std::int64_t>(small) : std::span<const std::int64_t>(large.shape()));
    const Status ran = context->run();
    if (!set || !ran) FAIL();
  }
  EXPECT_EQ(allocations - before, 0);
}

// What the first run at new shapes would have to find out: here whether x's columns suit w's rows, which no profile says.
TEST_F(Promises, NothingIsLeftToTheFirstRunAfterPrepare) {
  BuildConfig c;
  c.threads = 1, c.optimization_level = 0;
  c.profiles = {{{"x", {{1, 5}, {2, 6}, {4, 6}}}}};
  const Engine engine = builder::build_graph(
      ir::parse_graph("(x f32[rows,k], w f32[6,4]!)\n y = MatMul(x, w)", ir::Registry::builtin(),
                      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }}), c);
  ASSERT_FALSE(engine.info().allocates_in_run) << engine.inspect();
  const auto context = engine.create_context();
  for (int b = 0; b < 2; ++b) context->own_memory(b);
  for (const std::int64_t rows : {2, 3}) {
    ASSERT_TRUE(static_cast<bool>(context->set_input_shape(0, Shape{rows, 6})));
    ASSERT_TRUE(static_cast<bool>(context->prepare()));
    const long before = allocations;
    if (!context->run()) FAIL();
    EXPECT_EQ(allocations - before, 0);
  }
  ASSERT_TRUE(static_cast<bool>(context->set_input_shape(0, Shape{2, 5})));
  const Status status = context->prepare();
  EXPECT_FALSE(static_cast<bool>(status));
  EXPECT_NE(context->describe(status).find("[2,5]"), std::string::npos) << context->describe(status);
}

TEST_F(Promises, CancelledRunsEndAndTheNextOneRuns) {
  const Engine engine = builder::build_graph(network(), config(2));
  const auto context = engine.create_context();
  ASSERT_TRUE(static_cast<bool>(context->set_input_shape(0, Shape{4, 3, 12, 12})));
  for (int b = 0; b < 2; ++b) context->own_memory(b);
  ASSERT_TRUE(static_cast<bool>(context->run()));
  std::atomic<bool> started = false;
  std::thread other([&] {
    while (!started || !context->cancel()) std::this_thread::yield();   // until it meets a run
  });
  Status status = context->run();
  started = true;
  for (long runs = 0; status && runs < 10'000'000; ++runs) status = context->run();
  other.join();
  EXPECT_EQ(status.code, Status::cancelled);
  EXPECT_NE(context->describe(status).find("cancelled"), std::string::npos) << context->describe(status);
  EXPECT_TRUE(static_cast<bool>(context->run()));
}

TEST_F(Promises, SteadyLoopsAllocateNothing) {
  BuildConfig c;
  c.threads = 1;
  const Engine engine = builder::build_graph(ir::parse_graph(R"((h f32[1,8], x f32[5,1,8], w f32[8,8]!)
  last, all = Scan(h, x, w) num_states=1 num_scan_inputs=1 graphs=[
    (s f32[1,8], a f32[1,8], v f32[8,8])
      p = MatMul(s, v)
      q = Add(p, a)
      t = Tanh(q)
      return t, t
  ]
  return last, all
)", ir::Registry::builtin(), {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }}), c);
  ASSERT_FALSE(engine.info().allocates_in_run) << engine.inspect();
  const auto context = engine.create_context();
  for (int b = 0; b < 4; ++b) context->own_memory(b);
  ASSERT_TRUE(static_cast<bool>(context->run()));
  const long before = allocations;
  for (int i = 0; i < 10; ++i)
    if (!context->run()) FAIL();
  EXPECT_EQ(allocations - before, 0);
}

}  // namespace
}  // namespace tenfold
