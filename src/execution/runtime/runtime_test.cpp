// Runtimes: what engines of one share and engines of two do not; contexts in the caller's memory.
#include "tenfold/runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "builder/builder.h"
#include "builder/open_built.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "plan/write.h"
#include "runtime/context.h"
#include "runtime/device/far_backend_for_tests.h"
#include "runtime/shared/runtime.h"

namespace tenfold {
namespace {

ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}
BuildConfig level_0() {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  return config;
}
LoadOptions in(const std::shared_ptr<Runtime>& runtime, bool verify = true) {
  return {.verify_weights = verify, .threads = 1, .log = {}, .runtime = runtime};
}
const std::byte* weights_of(const Engine& engine) { return runtime::state_of(engine)->plan.weights; }

class Runtimes : public testing::Test {
 protected:
  void SetUp() override {
    builder::build_graph(parse("(x f32[4,6], w f32[6,4]!)\n y = MatMul(x, w)"), level_0()).save(path);
    builder::build_graph(parse("(x f32[4,6], v f32[6,4]!, w f32[6,4]!)\n y = MatMul(x, w)"), level_0()).save(other);
  }
  void TearDown() override {
    std::remove(path.c_str());
    std::remove(other.c_str());
  }
  std::string path = testing::TempDir() + "runtime_test.plan", other = testing::TempDir() + "runtime_test_other.plan";
};

TEST_F(Runtimes, PlansLoadedTwiceHaveTheirWeightsOnce) {
  const auto runtime = std::make_shared<Runtime>();
  auto first = std::make_unique<Engine>(Engine::load(path, in(runtime)));
  const Engine second = Engine::load(path, in(runtime)), elsewhere = Engine::load(path, in(std::make_shared<Runtime>()));
  EXPECT_EQ(weights_of(*first), weights_of(second));
  EXPECT_NE(weights_of(*first), weights_of(elsewhere));
  EXPECT_EQ(runtime->use().engines, 2);
  EXPECT_EQ(runtime->use().weights, 1);
  EXPECT_EQ(runtime->use().weight_bytes, first->info().weight_bytes);
  const Tensor x = ops::random_tensor(DType::f32, {4, 6}, 1);
  const Tensor expected = first->create_context()->run({x}).at(0);
  first.reset();
  const Tensor got = second.create_context()->run({x}).at(0);
  EXPECT_EQ(std::memcmp(got.raw(), expected.raw(), static_cast<std::size_t>(expected.bytes())), 0);
  EXPECT_EQ(runtime->use().engines, 1);
}

TEST_F(Runtimes, OnlyEqualAndVerifiedWeightsAreShared) {
  const auto runtime = std::make_shared<Runtime>();
  const Engine first = Engine::load(path, in(runtime)), other_weights = Engine::load(other, in(runtime)),
               unverified = Engine::load(path, in(runtime, false));
  EXPECT_NE(weights_of(first), weights_of(other_weights));
  EXPECT_NE(weights_of(first), weights_of(unverified));
  EXPECT_EQ(runtime->use().weights, 2);
  LoadOptions copied = in(runtime);
  copied.weights = WeightsMode::copy;
  EXPECT_NE(weights_of(first), weights_of(Engine::load(path, copied))) << "who asks for a copy gets one";
}

TEST_F(Runtimes, WeightsGoWithTheLastEngine) {
  const auto runtime = std::make_shared<Runtime>();
  Engine::load(path, in(runtime));
  EXPECT_EQ(runtime->use().weights, 0);
  EXPECT_EQ(runtime->use().engines, 0);
}

TEST_F(Runtimes, EqualWeightsThatComeAtTheSameMomentAreOne) {
  constexpr int kThreads = 8;
  for (int round = 0; round < 200; ++round) {
    runtime::WeightsTable table;
    std::vector<std::shared_ptr<runtime::SharedWeights>> found(kThreads);
    std::atomic<int> waiting{kThreads};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        const int last = i == 0 ? round : 7;   // thread 0 has others, of the same size and, as may happen, of the same checksum
        const auto bytes = std::make_shared<std::vector<std::byte>>(64, static_cast<std::byte>(last % 200 + (i == 0 ? 8 : 0)));
        const auto own = std::make_shared<runtime::SharedWeights>(bytes, std::span<const std::byte>(*bytes));
        for (--waiting; waiting > 0;) std::this_thread::yield();
        found[static_cast<std::size_t>(i)] = table.find_or_add(own, 5, WeightsMode::map);
      });
    for (auto& t : threads) t.join();
    for (int i = 2; i < kThreads; ++i) ASSERT_EQ(found[static_cast<std::size_t>(i)], found[1]) << "round " << round;
    ASSERT_NE(found[0], found[1]);
    RuntimeUse use;
    table.count(use);
    ASSERT_EQ(use.weights, 2);
    ASSERT_EQ(table.find(found[1]->bytes(), 5, WeightsMode::map), found[1]);
    ASSERT_EQ(table.find(found[1]->bytes(), 5, WeightsMode::copy), nullptr);
  }
}

TEST_F(Runtimes, AreKeptByTheirEnginesAndLoadFromManyThreads) {
  auto runtime = std::make_shared<Runtime>();
  std::vector<std::unique_ptr<Engine>> engines(8);
  std::vector<std::thread> threads;
  for (auto& engine : engines)
    threads.emplace_back([&] { engine = std::make_unique<Engine>(Engine::load(path, in(runtime))); });
  for (auto& t : threads) t.join();
  EXPECT_EQ(runtime->use().weights, 1) << "whoever comes first";
  for (const auto& engine : engines) EXPECT_EQ(weights_of(*engine), weights_of(*engines[0]));
  runtime.reset();
  const Tensor x = ops::random_tensor(DType::f32, {4, 6}, 1);
  for (const auto& engine : engines) EXPECT_NO_THROW(engine->create_context()->run({x}));
}

TEST_F(Runtimes, EnginesOfOneShareItsWorkers) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 2, .log = {}});
  LoadOptions options = in(runtime);
  options.threads = 0;
  const Engine a = Engine::load(path, options), b = Engine::load(other, options), c = Engine::load(path, {.threads = 2, .log = {}});
  EXPECT_EQ(a.info().threads, 2);
  const auto pool = [](const ExecutionContext& context) { return &runtime::ContextAccess::of(context).stream->parallel(); };
  const auto in_a = a.create_context(), in_b = b.create_context(), in_c = c.create_context();
  EXPECT_EQ(pool(*in_a), pool(*in_b)) << "four workers for two processors";
  EXPECT_NE(pool(*in_a), pool(*in_c)) << "another runtime's";
  EXPECT_THROW(Runtime(RuntimeOptions{.threads = -1, .log = {}}), Error);
}

// Counts what it gives; refuses beyond a limit, and aligns badly where it is told to.
class Counting : public DeviceAllocator {
 public:
  void* allocate(std::int64_t bytes, std::int64_t alignment, std::string_view device) noexcept override {
    const std::lock_guard lock(mutex_);
    if (device != "cpu" || used + bytes > limit) return nullptr;
    auto* const memory = static_cast<std::byte*>(
        std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>((bytes / alignment + 2) * alignment)));
    ++given, used += bytes;
    live_.emplace(memory + shift, std::pair(memory, bytes));
    return memory + shift;
  }
  void release(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto it = live_.find(memory);
    if (it == live_.end()) return static_cast<void>(++strange);
    used -= it->second.second;
    std::free(it->second.first);
    live_.erase(it);
  }
  bool holds(const void* at) {
    const std::lock_guard lock(mutex_);
    auto it = live_.upper_bound(const_cast<void*>(at));
    if (it == live_.begin()) return false;
    --it;
    return static_cast<const std::byte*>(at) < static_cast<std::byte*>(it->first) + it->second.second;
  }
  std::int64_t limit = 1 << 30, used = 0;
  int given = 0, strange = 0, shift = 0;

 private:
  std::mutex mutex_;
  std::map<void*, std::pair<void*, std::int64_t>> live_;   // by address: what to free, and bytes
};

TEST_F(Runtimes, TakeDeviceMemoryFromTheCallersAllocator) {
  const auto allocator = std::make_shared<Counting>();
  auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 1, .log = {}, .allocator = allocator});
  std::optional<Engine> engine = Engine::load(path, in(runtime));
  const std::int64_t weights = allocator->used;
  EXPECT_GE(weights, 6 * 4 * 4);
  auto context = engine->create_context();
  EXPECT_GT(allocator->used, weights);
  const runtime::ContextState& state = runtime::ContextAccess::of(*context);
  EXPECT_TRUE(allocator->holds(state.work.arena.get()));
  EXPECT_TRUE(allocator->holds(runtime::state_of(*engine)->constants.get())) << "the weights";
  const Tensor x = ops::random_tensor(DType::f32, {4, 6}, 1);
  const Tensor got = context->run({x})[0], expected = Engine::load(path, in(nullptr)).create_context()->run({x})[0];
  for (std::int64_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got.as_double(i), expected.as_double(i));
  allocator->limit = allocator->used;
  try {
    engine->create_context();
    ADD_FAILURE() << "there was no memory for a second context";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("the allocator gave no memory"), std::string::npos) << error.what();
  }
  context.reset();
  EXPECT_EQ(allocator->used, weights);
  engine.reset(), runtime.reset();
  EXPECT_EQ(allocator->used, 0);
  EXPECT_EQ(allocator->strange, 0);
}

TEST_F(Runtimes, BuildWithTheCallersAllocator) {
  const auto allocator = std::make_shared<Counting>();
  BuildConfig config = level_0();
  config.optimization_level = 2;   // kernels are timed in memory of the allocator's, too
  config.runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 1, .log = {}, .allocator = allocator});
  {
    const Engine engine = builder::build_graph(parse("(x f32[4,6], w f32[6,4]!)\n y = MatMul(x, w)"), config);
    EXPECT_GT(allocator->given, 1);
    EXPECT_GT(allocator->used, 0);
  }
  EXPECT_EQ(allocator->used, 0);
}

TEST_F(Runtimes, RefuseMemoryThatIsNotAligned) {
  const auto allocator = std::make_shared<Counting>();
  allocator->shift = 64;
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 1, .log = {}, .allocator = allocator});
  try {
    Engine::load(path, in(runtime));
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("not aligned to 256"), std::string::npos) << error.what();
  }
  EXPECT_EQ(allocator->used, 0) << "it went back";
}

TEST_F(Runtimes, GiveTheirLogToThoseWithoutOne) {
  std::atomic<int> messages = 0;
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 1, .log = [&](Severity, std::string_view) { ++messages; }});
  BuildConfig config = level_0();
  config.runtime = runtime, config.pack_tokens = PackTokens::where_equal;   // there is nothing to pack, which is told
  const Engine engine = builder::build_graph(parse("(x f32[4,6])\n y = Softmax(x)"), config);
  EXPECT_GT(messages, 0);
  EXPECT_EQ(runtime->use().engines, 1);
  messages = 0;
  config.log = [](Severity, std::string_view) {};
  builder::build_graph(parse("(x f32[4,6])\n y = Softmax(x)"), config);
  EXPECT_EQ(messages, 0) << "who has a log of his own needs no other";
}

// --- Contexts in the caller's memory ---

struct Aligned {
  explicit Aligned(std::int64_t bytes)
      : memory(std::aligned_alloc(256, static_cast<std::size_t>((bytes + 255) / 256 * 256))), size(bytes) {}
  ~Aligned() { std::free(memory); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  void* memory;
  std::int64_t size;
};

class CallersMemory : public testing::Test {
 protected:
  static Engine build(std::shared_ptr<backends::Backend> backend = nullptr) {
    const ir::Graph graph =   // without workspaces, whose size is fixed
        parse("(x f32[n,64])\n a = Softmax(x)\n b = Softmax(a) axis=0\n c = Softmax(b)\n y = Softmax(c) axis=0");
    BuildConfig config = level_0();
    config.profiles = {{{"x", {{1, 64}, {8, 64}, {128, 64}}}}};
    if (!backend) return builder::build_graph(graph, config);
    BuildReport report;
    plan::Plan plan = builder::build_plan(graph, config, "", backend, report);
    return builder::open_built(std::move(plan), config, backend);
  }
  static void expect_equal(const Tensor& got, const Tensor& expected) {
    ASSERT_EQ(got.shape(), expected.shape());
    EXPECT_EQ(std::memcmp(got.raw(), expected.raw(), static_cast<std::size_t>(expected.bytes())), 0);
  }
  Engine engine = build();
};

TEST_F(CallersMemory, RunsInIt) {
  const std::int64_t all = engine.arena_bytes(), few = engine.arena_bytes(-1, {{8, 64}});
  EXPECT_LT(few, all);
  EXPECT_EQ(engine.arena_bytes(0, {{128, 64}}), all);
  EXPECT_GE(all, engine.info().arena_bytes + engine.info().scratch_bytes);
  const Aligned memory(all), small(few);
  const auto own = engine.create_context(), borrowed = engine.create_context({.memory = memory.memory, .bytes = all}),
             less = engine.create_context({.memory = small.memory, .bytes = few});
  for (const std::int64_t n : {8, 128, 1}) {
    const Tensor x = ops::random_tensor(DType::f32, {n, 64}, 1), expected = own->run({x}).at(0);
    expect_equal(borrowed->run({x}).at(0), expected);
    if (n <= 8) expect_equal(less->run({x}).at(0), expected);
  }
}

TEST_F(CallersMemory, ShapesThatNeedMoreAreRefusedInNumbers) {
  const std::int64_t few = engine.arena_bytes(-1, {{8, 64}});
  const Aligned memory(few);
  const auto context = engine.create_context({.memory = memory.memory, .bytes = few});
  try {
    context->run({ops::random_tensor(DType::f32, {128, 64}, 1)});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("Engine::arena_bytes"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW(context->run({ops::random_tensor(DType::f32, {8, 64}, 1)})) << "the context is of no use after a refusal";
}

TEST_F(CallersMemory, ContextsThatTakeTurnsMayShareIt) {
  const std::int64_t all = engine.arena_bytes();
  const Aligned memory(all);
  const ContextOptions options{.memory = memory.memory, .bytes = all};
  const auto a = engine.create_context(options), b = engine.create_context(options), own = engine.create_context();
  for (std::uint64_t i = 0; i < 4; ++i) {
    const Tensor x = ops::random_tensor(DType::f32, {static_cast<std::int64_t>(3 + i), 64}, i + 1);
    expect_equal((i % 2 ? a : b)->run({x}).at(0), own->run({x}).at(0));
  }
}

TEST_F(CallersMemory, WrongRequestsAreRefused) {
  const Aligned memory(1 << 20);
  EXPECT_THROW(engine.create_context({.memory = static_cast<std::byte*>(memory.memory) + 64, .bytes = 1 << 19}), Error);
  EXPECT_THROW(engine.arena_bytes(1), Error);
  EXPECT_THROW(engine.arena_bytes(-1, {{129, 64}}), Error);
  EXPECT_THROW(engine.arena_bytes(-1, {{8, 65}}), Error);
  EXPECT_THROW(engine.arena_bytes(-1, {{8, 64}, {1}}), Error);
}

TEST_F(CallersMemory, OnADeviceWithMemoryOfItsOwn) {
  const auto backend = std::make_shared<runtime::FarBackend>();
  const Engine far = build(backend);
  EXPECT_GT(far.info().binding_bytes, 0);
  EXPECT_EQ(engine.info().binding_bytes, far.info().binding_bytes) << "on a CPU, too";
  const std::int64_t all = far.arena_bytes();
  const Aligned host(all);
  EXPECT_THROW(far.create_context({.memory = host.memory, .bytes = all}), Error) << "the host's memory for a device";
  const auto borrowed = far.create_context({.memory = runtime::far(host.memory), .bytes = all}), own = far.create_context();
  const Tensor x = ops::random_tensor(DType::f32, {128, 64}, 1);
  for (int i = 0; i < 3; ++i) expect_equal(borrowed->run({x}).at(0), own->run({x}).at(0));
}

}  // namespace
}  // namespace tenfold
