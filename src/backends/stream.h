// Stream: where work on a device happens, in order, and what streams of some devices can do besides.
#pragma once

#include <memory>
#include <string_view>

#include "backends/tactic.h"
#include "tenfold/device.h"

namespace tenfold::backends {

// Keeps work of a stream, to run it at once again and again. Between start() and finish() nothing runs: launches and copies are kept.
class GraphCapturer {
 public:
  virtual ~GraphCapturer() = default;
  virtual bool start() noexcept = 0;   // false: not now
  // Null: it could not be kept. `previous`: a graph of the same steps with other addresses that is no longer wanted and may become
  // this one.
  virtual std::shared_ptr<const void> finish(std::shared_ptr<const void> previous = nullptr) noexcept = 0;
  virtual Status::Code replay(const void* graph) noexcept = 0;
  // While graph, work may go to several branches that do not wait for each other: note() gives the present moment of a branch a number,
  // and what goes to a branch behind follow() comes after that moment. Every branch begins by following, and is followed by branch 0 at
  // last.
  virtual int branches() const noexcept { return 1; }
  virtual Status::Code use_branch(int /*branch*/) noexcept { return Status::ok; }
  virtual Status::Code note(int /*branch*/, int /*moment*/) noexcept { return Status::ok; }
  virtual Status::Code follow(int /*branch*/, int /*moment*/) noexcept { return Status::ok; }
};

// Lets a stream's work go to streams that callers have on the same device.
class CallersStreams {
 public:
  virtual ~CallersStreams() = default;
  // From now on work goes to this stream of the caller's, behind all that was asked of this one so far; null: to the stream's own again,
  // behind what went to the caller's. False: it cannot.
  virtual bool use(void* callers) noexcept = 0;
  // A stream of the caller's that is being captured: what is asked of it becomes part of the caller's graph. Between capture_into(it) and
  // capture_into(null) work goes there, and nothing but launches, copies and fills is asked of the driver.
  enum class Capture : std::uint8_t { none, active, broken };
  virtual Capture capture_of(void* callers) noexcept = 0;   // broken: an error ended it
  virtual void capture_into(void* callers) noexcept = 0;
  // Notes the end of all that was asked so far; wait_end() waits for it in whatever thread, while others ask for more.
  virtual Status::Code note_end() noexcept = 0;
  virtual Status::Code wait_end() noexcept = 0;
};

// On the CPU a stream is the caller's thread plus a pool of workers. One thread uses a stream at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual Parallel& parallel() noexcept = 0;                     // for host tactics
  virtual Status::Code launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept = 0;
  virtual Status::Code copy(void* to, const void* from, std::int64_t bytes) noexcept = 0;   // between host and device, or within one
  virtual Status::Code fill(void* to, int byte, std::int64_t bytes) noexcept = 0;
  virtual Status::Code wait() noexcept = 0;                      // until everything launched is done
  virtual void wait_how(Wait) noexcept {}
  virtual std::string_view error() const noexcept { return {}; } // why something gave Status::device, in words
  // Remembers this moment in the stream's order under a number below 4; milliseconds between two, once wait() has returned.
  virtual void mark(int moment) noexcept = 0;
  virtual double between(int first, int last) const noexcept = 0;

  virtual GraphCapturer* capturer() noexcept { return nullptr; }      // null: it runs everything step by step
  virtual CallersStreams* callers() noexcept { return nullptr; } // null: callers have no streams on such a device
};

// Marks of streams whose work is done when a call returns.
class HostMarks {
 public:
  void mark(int moment) noexcept;
  double between(int first, int last) const noexcept;

 private:
  std::int64_t nanoseconds_[4] = {};
};

struct StreamOptions {
  int threads = 0;                                               // 0: from affinity mask and cgroup quota
  bool pin_threads = false;                                      // on a CPU: workers of its own, each thread on one processor
};

}  // namespace tenfold::backends
