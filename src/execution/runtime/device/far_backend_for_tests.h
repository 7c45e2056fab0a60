// A device for tests whose memory the host cannot read: the CPU's tactics behind addresses that fault when they are used. What is
// launched must lie there, as a GPU's kernels want it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "backends/backend.h"

namespace tenfold::runtime {

using backends::Bound;
using backends::RunArgs;
using backends::Tactic;

// Device addresses are host addresses with a bit that no pointer has.
inline constexpr std::uintptr_t kFar = std::uintptr_t{1} << 62;
inline void* far(void* p) { return p ? reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) | kFar) : nullptr; }
inline bool is_far(const void* p) { return (reinterpret_cast<std::uintptr_t>(p) & kFar) != 0; }
inline void* near(const void* p) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) & ~kFar); }

class FarStream final : public backends::Stream, backends::GraphCapturer {
 public:
  explicit FarStream(std::unique_ptr<Stream> host) : host_(std::move(host)) {}
  Parallel& parallel() noexcept override { return host_->parallel(); }
  Status::Code launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept override {
    ++launches;
    auto in = std::make_shared<std::vector<Bound>>(args.in.begin(), args.in.end()),
         out = std::make_shared<std::vector<Bound>>(args.out.begin(), args.out.end());
    for (auto* side : {in.get(), out.get()})
      for (Bound& b : *side) {
        if (b.data && !is_far(b.data)) return error_ = "a kernel was given memory of the host's", Status::device;
        b.data = near(b.data);
      }
    RunArgs here = args;
    here.in = *in, here.out = *out, here.workspace = near(args.workspace), here.scratch = near(args.scratch),
    here.parallel = &host_->parallel();
    return now_or_later([&tactic, kernel, in, out, here] { return tactic.run(kernel, here); });
  }
  Status::Code copy(void* to, const void* from, std::int64_t bytes) noexcept override {
    copies_to_host += is_far(from) && !is_far(to);
    return now_or_later([=] { return std::memcpy(near(to), near(from), static_cast<std::size_t>(bytes)), Status::ok; });
  }
  Status::Code fill(void* to, int byte, std::int64_t bytes) noexcept override {
    return std::memset(near(to), byte, static_cast<std::size_t>(bytes)), Status::ok;
  }
  Status::Code wait() noexcept override { return ++waits, Status::ok; }
  std::string_view error() const noexcept override { return error_; }
  backends::GraphCapturer* capturer() noexcept override { return this; }
  void mark(int moment) noexcept override { host_->mark(moment); }
  double between(int first, int last) const noexcept override { return host_->between(first, last); }
  // Of all threads. Recorded copies count when they are recorded.
  static inline std::atomic<int> replays = 0, launches = 0, copies_to_host = 0, waits = 0;

 private:
  using Steps = std::vector<std::function<Status::Code()>>;
  bool start() noexcept override { return captured_ = std::make_shared<Steps>(), true; }
  std::shared_ptr<const void> finish(std::shared_ptr<const void>) noexcept override { return std::exchange(captured_, nullptr); }
  Status::Code replay(const void* graph) noexcept override {
    ++replays;
    for (const auto& step : *static_cast<const Steps*>(graph))
      if (const Status::Code code = step(); code != Status::ok) return code;
    return Status::ok;
  }
  Status::Code now_or_later(std::function<Status::Code()> step) {
    if (!captured_) return step();
    captured_->push_back(std::move(step));
    return Status::ok;
  }
  std::unique_ptr<Stream> host_;
  std::shared_ptr<Steps> captured_;
  const char* error_ = "";
};

class FarBackend final : public backends::Backend, backends::DeviceMemory, backends::KernelTiming {
 public:
  std::string_view name() const override { return "far"; }
  const backends::DeviceInfo& info() const override { return host_->info(); }
  const std::vector<Tactic>& tactics() const override { return host_->tactics(); }
  backends::DeviceMemory& memory() override { return *this; }
  backends::KernelTiming& timing() override { return *this; }
  std::unique_ptr<backends::Stream> open_stream(const backends::StreamOptions& o) override {
    return std::make_unique<FarStream>(host_->open_stream(o));
  }

 private:
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    auto owner = host_->memory().allocate(bytes);
    void* p = far(owner.get());
    return {p, [owner](void*) {}};
  }
  double measure(backends::Stream&, const Tactic&, const void*, const RunArgs&, const backends::MeasureBudget&) override { return 1; }
  bool host_reads() const override { return false; }
  backends::MemoryKind kind_of(const void* p) const noexcept override {
    return is_far(p) ? backends::MemoryKind::device : backends::MemoryKind::pageable;
  }
  std::shared_ptr<void> allocate_host(std::int64_t bytes) override { return host_->memory().allocate(bytes); }
  std::shared_ptr<const void> place_constants(const void* data, std::int64_t bytes) override {
    auto memory = allocate(bytes);
    if (bytes > 0) std::memcpy(near(memory.get()), data, static_cast<std::size_t>(bytes));
    return memory;
  }

  std::shared_ptr<Backend> host_ = backends::open_backend("cpu");
};

}  // namespace tenfold::runtime
