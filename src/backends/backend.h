// Backend: what the tuner and the runtime need of a kind of device. `null`, `cpu` and `cuda` stand behind it; nothing above
// knows which one runs. To write a new one, copy null/ and pass conformance_test.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/clock.h"
#include "backends/code.h"
#include "backends/measure.h"
#include "backends/tactic.h"
#include "tenfold/device.h"

namespace tenfold { class DeviceAllocator; class Pools; }
namespace tenfold::backends::cuda { class Gpus; }

namespace tenfold::backends {

// Work on a device happens on a stream, in order. On the CPU a stream is the caller's thread plus a pool of workers.
// copy() goes between host and device, either way, or within one of them.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual Parallel& parallel() noexcept = 0;                     // for host tactics
  virtual Status::Code launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept = 0;
  virtual Status::Code copy(void* to, const void* from, std::int64_t bytes) noexcept = 0;
  virtual Status::Code fill(void* to, int byte, std::int64_t bytes) noexcept = 0;
  virtual Status::Code wait() noexcept = 0;                      // until everything launched is done
  virtual std::string_view error() const noexcept { return {}; } // why something gave Status::device, in words

  // From now on work goes to this stream of the caller's, behind all that was asked of this one so far; null: to the stream's own again,
  // behind what went to the caller's. Only devices have such.
  virtual bool use(void* callers) noexcept { return callers == nullptr; }
  virtual void wait_how(Wait) noexcept {}

  // A stream of the caller's that is being captured: what is asked of it becomes part of the caller's graph. Between record_into(it) and
  // record_into(null) work goes there, and nothing but launches, copies and fills is asked of the driver.
  enum class Capture : std::uint8_t { none, active, broken };
  virtual Capture capture_of(void* /*callers*/) noexcept { return Capture::none; }   // broken: an error ended it
  virtual void record_into(void* /*callers*/) noexcept {}

  // Between start and finish nothing runs: launches and copies are kept, and replay() runs them at once. False, or null: the
  // stream cannot. `previous`: a recording of the same steps with other addresses that is no longer wanted and may become this one.
  virtual bool start_recording() noexcept { return false; }
  virtual std::shared_ptr<const void> finish_recording(std::shared_ptr<const void> /*previous*/ = nullptr) noexcept { return nullptr; }
  virtual Status::Code replay(const void* recording) noexcept { return recording ? Status::failed : Status::not_ready; }
  // While recording, work may go to several lanes that do not wait for each other: note() gives the present moment of a lane a number,
  // and what goes to a lane behind follow() comes after that moment. Every lane begins by following, and is followed by lane 0 at last.
  virtual int lanes() const noexcept { return 1; }
  virtual Status::Code use_lane(int /*lane*/) noexcept { return Status::ok; }
  virtual Status::Code note(int /*lane*/, int /*moment*/) noexcept { return Status::ok; }
  virtual Status::Code follow(int /*lane*/, int /*moment*/) noexcept { return Status::ok; }
  // Remembers this moment in the stream's order under a number below 4; milliseconds between two, once wait() has returned.
  virtual void mark(int moment) noexcept = 0;
  virtual double between(int first, int last) const noexcept = 0;
  // Notes the end of all that was asked so far; wait_end() waits for it in whatever thread, while others ask for more.
  virtual Status::Code note_end() noexcept { return Status::ok; }
  virtual Status::Code wait_end() noexcept { return Status::ok; }
};

// Marks of streams whose work is done when a call returns.
class HostMarks {
 public:
  void mark(int moment) noexcept;
  double between(int first, int last) const noexcept;

 private:
  std::int64_t nanoseconds_[4] = {};
};

// Where memory lies for a device that has its own: pinned is the host's, but fixed in place, so that the device reads it directly.
enum class MemoryKind : std::uint8_t { pageable, pinned, device };

struct StreamOptions {
  int threads = 0;                                               // 0: from affinity mask and cgroup quota
  bool pin_threads = false;                                      // on a CPU: workers of its own, each thread on one processor
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
  // False: the host cannot read what allocate() gives. The runtime then copies the operands of host steps and the caller's bindings.
  virtual bool host_reads_memory() const { return true; }
  virtual std::int64_t allocated_bytes() const { return 0; }   // of what allocate() gave; 0 where host and device share memory
  virtual std::shared_ptr<void> allocate_host(std::int64_t bytes) { return allocate(bytes); }   // quick to copy from and to
  virtual MemoryKind kind_of(const void* /*memory*/) const noexcept { return MemoryKind::device; }
  virtual bool reads_pinned() const { return false; }   // tactics may be given pinned memory of allocate_host() as if it were the device's
  // Constants where tactics can read them: as they are, or a copy.
  virtual std::shared_ptr<const void> place_constants(const void* data, std::int64_t bytes);
  // Nanoseconds of reading and writing `bytes` once in another order, roughly: what the tuner adds where layouts differ.
  virtual double reformat_ns(std::int64_t bytes) const { return 300 + 0.15 * static_cast<double>(bytes); }
  // Machine code (code.h): whether opening tactics compiles; code from elsewhere to be used instead, of any compiler or only what
  // the one here would make; all that was used so far.
  virtual bool compiles() const { return false; }
  virtual void take_code(const CodeList&, bool /*of_any_compiler*/) {}
  virtual CodeList code() const { return {}; }
  // The clocks that times of kernels depend on, now or at most: what cannot be known in a fifth of a millisecond is left out.
  virtual std::vector<Clock> clocks() const { return {}; }
  virtual std::unique_ptr<Stream> open_stream(const StreamOptions& options) = 0;
  // Nanoseconds of one launch within a budget.
  virtual double measure(Stream& stream, const Tactic& tactic, const void* kernel, const RunArgs& args, const MeasureBudget& budget) = 0;
};

// What the backends of one runtime share; what is null each has of its own.
struct Resources {
  std::shared_ptr<Pools> pools;       // where streams of a CPU take their workers
  std::shared_ptr<cuda::Gpus> gpus;   // open GPUs, their memory, and the kernels that were compiled for them
  std::shared_ptr<DeviceAllocator> allocator;   // where device memory comes from; null: the system, the driver
};
// "cpu", "cuda:0", "null"; throws unsupported naming what exists. `features` restricts a CPU to fewer features (0: all it has).
std::shared_ptr<Backend> open_backend(std::string_view name, std::uint32_t features = 0, const Resources& shared = {});

}  // namespace tenfold::backends
