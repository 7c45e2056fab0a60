// Engines on a device whose memory the host cannot read: here the CPU's tactics behind addresses that fault when they are used.
#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "builder/builder.h"
#include "builder/plan_maker.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold {
namespace {

using backends::Bound;
using backends::RunArgs;
using backends::Tactic;

// Device addresses are host addresses with a bit that no pointer has.
constexpr std::uintptr_t kFar = std::uintptr_t{1} << 62;
void* far(void* p) { return p ? reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) | kFar) : nullptr; }
void* near(const void* p) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) & ~kFar); }

class FarStream final : public backends::Stream {
 public:
  explicit FarStream(std::unique_ptr<Stream> host) : host_(std::move(host)) {}
  Parallel& parallel() noexcept override { return host_->parallel(); }
  Status::Code launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept override {
    ++launches;
    auto in = std::make_shared<std::vector<Bound>>(args.in.begin(), args.in.end()),
         out = std::make_shared<std::vector<Bound>>(args.out.begin(), args.out.end());
    for (auto* side : {in.get(), out.get()})
      for (Bound& b : *side) b.data = near(b.data);
    RunArgs here = args;
    here.in = *in, here.out = *out, here.workspace = near(args.workspace), here.scratch = near(args.scratch),
    here.parallel = &host_->parallel();
    return now_or_later([&tactic, kernel, in, out, here] { return tactic.run(kernel, here); });
  }
  Status::Code copy(void* to, const void* from, std::int64_t bytes) noexcept override {
    return now_or_later([=] { return std::memcpy(near(to), near(from), static_cast<std::size_t>(bytes)), Status::ok; });
  }
  Status::Code fill(void* to, int byte, std::int64_t bytes) noexcept override {
    return std::memset(near(to), byte, static_cast<std::size_t>(bytes)), Status::ok;
  }
  Status::Code wait() noexcept override { return Status::ok; }
  bool start_recording() noexcept override { return recording_ = std::make_shared<Steps>(), true; }
  std::shared_ptr<const void> finish_recording(std::shared_ptr<const void>) noexcept override { return std::exchange(recording_, nullptr); }
  Status::Code replay(const void* recording) noexcept override {
    ++replays;
    for (const auto& step : *static_cast<const Steps*>(recording))
      if (const Status::Code code = step(); code != Status::ok) return code;
    return Status::ok;
  }
  void mark(int moment) noexcept override { host_->mark(moment); }
  double between(int first, int last) const noexcept override { return host_->between(first, last); }
  static inline int replays = 0, launches = 0;

 private:
  using Steps = std::vector<std::function<Status::Code()>>;
  Status::Code now_or_later(std::function<Status::Code()> step) {
    if (!recording_) return step();
    recording_->push_back(std::move(step));
    return Status::ok;
  }
  std::unique_ptr<Stream> host_;
  std::shared_ptr<Steps> recording_;
};

class FarBackend final : public backends::Backend {
 public:
  std::string_view name() const override { return "far"; }
  const backends::DeviceInfo& info() const override { return host_->info(); }
  const std::vector<Tactic>& tactics() const override { return host_->tactics(); }
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    auto owner = host_->allocate(bytes);
    void* p = far(owner.get());
    return {p, [owner](void*) {}};
  }
  std::unique_ptr<backends::Stream> open_stream(const backends::StreamOptions& o) override {
    return std::make_unique<FarStream>(host_->open_stream(o));
  }
  double measure(backends::Stream&, const Tactic&, const void*, const RunArgs&, const backends::MeasureBudget&) override { return 1; }
  bool host_reads_memory() const override { return false; }
  std::shared_ptr<void> allocate_host(std::int64_t bytes) override { return host_->allocate(bytes); }
  std::shared_ptr<const void> place_constants(const void* data, std::int64_t bytes) override {
    auto memory = allocate(bytes);
    if (bytes > 0) std::memcpy(near(memory.get()), data, static_cast<std::size_t>(bytes));
    return memory;
  }

 private:
  std::shared_ptr<Backend> host_ = backends::open_backend("cpu");
};

// Builds for the far device and compares with the interpreter, at every batch size given, twice each.
void expect_right(const char* text, const std::vector<std::int64_t>& batches, bool replayed) {
  const ir::Graph graph =
      ir::parse_graph(text, ir::Registry::builtin(),
                      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
  BuildConfig config;
  config.threads = 1;
  config.profiles = {{{"x", {{1, 6}, {2, 6}, {8, 6}}}}};
  BuildReport report;
  auto backend = std::make_shared<FarBackend>();
  const Engine engine = builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
  const auto context = engine.create_context();
  const int before = FarStream::replays;
  std::uint64_t seed = 3;
  for (std::int64_t batch : batches)
    for (int again = 0; again < 2; ++again) {
      const Tensor x = ops::random_tensor(DType::f32, {batch, 6}, seed++);
      const Tensor got = context->run(std::vector<Tensor>{x}).at(0);
      const Tensor want = std::get<Tensor>(ops::run_graph(graph, {x}).at(0));
      ASSERT_EQ(got.shape(), want.shape());
      for (std::int64_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got.as_double(i), want.as_double(i), 1e-5);
    }
  EXPECT_EQ(FarStream::replays - before, replayed ? 2 * static_cast<int>(batches.size()) : 0);
}

TEST(Staging, KernelsAreRecordedAndReplayed) {
  expect_right(R"((x f32[batch,6], w f32[6,5]!, b f32[5]!)
    y = MatMul(x, w)
    z = Add(y, b)
    r = Relu(z)
    s = Softmax(r) axis=-1)",
               {2, 5, 2, 8}, true);
}
TEST(Staging, PrepareRecordsAndRunsOnlyReplay) {
  const ir::Graph graph = ir::parse_graph("(x f32[batch,6])\n y = Relu(x)", ir::Registry::builtin());
  BuildConfig config;
  config.threads = 1;
  config.profiles = {{{"x", {{1, 6}, {2, 6}, {8, 6}}}}};
  BuildReport report;
  auto backend = std::make_shared<FarBackend>();
  const Engine engine = builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
  const auto context = engine.create_context();
  const Shape shape{3, 6};
  ASSERT_TRUE(context->set_input_shape(0, shape));
  context->own_memory(0), context->own_memory(1);
  ASSERT_TRUE(context->prepare());
  const int launches = FarStream::launches, replays = FarStream::replays;
  EXPECT_GT(launches, 0);
  ASSERT_TRUE(context->run());
  EXPECT_EQ(FarStream::launches, launches);
  EXPECT_EQ(FarStream::replays, replays + 1);
}
TEST(Staging, HostStepsReadAndWriteCopies) {
  expect_right(R"((x f32[batch,6], w f32[6,5]!)
    h = Hardmax(x) axis=-1
    a = Add(h, x)
    y = MatMul(a, w))",
               {1, 4}, false);
}

}  // namespace
}  // namespace tenfold
