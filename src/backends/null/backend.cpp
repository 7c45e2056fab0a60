// The null backend: one tactic that accepts every problem in every layout, takes a time given by a formula, and refuses to run.
#include "backends/null/backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/checked.h"

namespace tenfold::backends {
namespace {

class NullStream final : public Stream {
 public:
  Parallel& parallel() noexcept override { return serial_; }
  Status::Code launch(const Tactic&, const void*, const RunArgs&) noexcept override { return Status::device; }
  Status::Code copy(void*, const void*, std::int64_t) noexcept override { return Status::device; }
  Status::Code fill(void*, int, std::int64_t) noexcept override { return Status::device; }
  Status::Code wait() noexcept override { return Status::ok; }
  std::string_view error() const noexcept override { return "the null device plans and computes nothing; build for 'cpu' to run"; }
  void mark(int moment) noexcept override { marks_.mark(moment); }
  double between(int first, int last) const noexcept override { return marks_.between(first, last); }

 private:
  Serial serial_;
  HostMarks marks_;
};

std::vector<Formats> any_layout(const Problem& p) {
  std::vector<Formats> all;
  for (Layout layout : {kPlain, kChannelsLast})
    all.push_back({std::vector<Layout>(p.in.size(), layout), std::vector<Layout>(p.out.size(), layout)});
  return all;
}

Tactic nothing() {
  Tactic t;
  t.name = "nothing";
  t.ops = {"*"};
  t.supports = [](const Problem&) { return Verdict::ok(); };
  t.configs = [](const Problem&) { return std::vector<Config>{{}}; };
  t.formats = any_layout;
  t.open = [](const Problem&, const Config&, Opening&) -> std::shared_ptr<const void> { return std::make_shared<int>(0); };
  t.run = [](const void*, const RunArgs&) noexcept { return Status::device; };
  return t;
}

class NullBackend final : public Backend, DeviceMemory, KernelTiming {
 public:
  NullBackend() {
    info_.kind = "null";
    info_.name = "null";
    tactics_.push_back(nothing());
  }
  std::string_view name() const override { return "null"; }
  const DeviceInfo& info() const override { return info_; }
  const std::vector<Tactic>& tactics() const override { return tactics_; }
  DeviceMemory& memory() override { return *this; }
  KernelTiming& timing() override { return *this; }
  std::unique_ptr<Stream> open_stream(const StreamOptions&) override { return std::make_unique<NullStream>(); }

 private:
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    const auto size = static_cast<std::size_t>(round_up(std::max<std::int64_t>(bytes, 64), 64));
    void* memory = std::aligned_alloc(64, size);
    require(memory != nullptr, ErrorKind::out_of_memory, "cannot allocate ", bytes, " bytes of host memory");
    std::memset(memory, 0, size);
    return {memory, std::free};
  }
  // One nanosecond per element written: enough for the tuner to have something to compare.
  double measure(Stream&, const Tactic&, const void*, const RunArgs& args, const MeasureBudget&) override {
    double elements = 1;
    for (int i = 0; !args.out.empty() && i < args.out[0].rank; ++i) elements *= static_cast<double>(args.out[0].dims[i]);
    return elements;
  }

  DeviceInfo info_;
  std::vector<Tactic> tactics_;
};

}  // namespace

std::shared_ptr<Backend> open_null() { return std::make_shared<NullBackend>(); }

}  // namespace tenfold::backends
