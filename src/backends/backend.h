// Backend: what the tuner and the runtime need of a kind of device. `null`, `cpu` and `cuda` stand behind it; nothing above
// knows which one runs. To write a new one, copy null/ and pass conformance_test.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "backends/measure.h"
#include "backends/tactic.h"

namespace tenfold::backends {

// Work on a device happens on a stream, in order. On the CPU a stream is the caller's thread plus a pool of workers.
// copy() goes between host and device, either way, or within one of them.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual Parallel& parallel() noexcept = 0;                     // for host tactics
  virtual Status::Code launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept = 0;
  virtual Status::Code copy(void* to, const void* from, std::int64_t bytes) noexcept = 0;
  virtual Status::Code wait() noexcept = 0;                      // until everything launched is done
  virtual std::string_view error() const noexcept { return {}; } // why something gave Status::device, in words
};

struct StreamOptions {
  int threads = 0;                                               // 0: from affinity mask and cgroup quota
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;                     // "cpu", "cuda", "null"
  virtual const DeviceInfo& info() const = 0;
  virtual const std::vector<Tactic>& tactics() const = 0;        // sorted by name
  // Optional kernel libraries: "oneDNN 2.6.3", or why there is none.
  virtual std::vector<std::string> libraries() const { return {}; }
  virtual std::shared_ptr<void> allocate(std::int64_t bytes) = 0;   // throws out_of_memory naming bytes wanted
  virtual std::unique_ptr<Stream> open_stream(const StreamOptions& options) = 0;
  // Nanoseconds of one launch within a budget.
  virtual double measure(Stream& stream, const Tactic& tactic, const void* kernel, const RunArgs& args, const MeasureBudget& budget) = 0;
};

// Tactics of a backend that may run an operator, in name order: its own, those for any operator ("*"), and those for every
// pointwise operator and Region ("*pointwise").
std::vector<const Tactic*> tactics_for(const Backend& backend, const ir::OpDef& op);

// "cpu", "null"; throws unsupported naming what exists. `features` restricts a CPU to fewer features (0: all it has).
std::shared_ptr<Backend> open_backend(std::string_view name, std::uint32_t features = 0);

}  // namespace tenfold::backends
