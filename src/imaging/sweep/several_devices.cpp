// A batch of zeros tells how quick a device is. The caller's thread waits for the others and is the one that asks and
// tells the caller.
#include "sweep/several_devices.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/check.h"
#include "base/log.h"
#include "sweep/device_bands.h"
#include "sweep/predictor.h"
#include "sweep/shared_source.h"
#include "sweep/turned.h"
#include "sweep/window_engine.h"
#include "tenfold/device_array.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::imaging {
namespace {

using Clock = std::chrono::steady_clock;

// Windows a second.
double speed_of(const SlidingWindow& windows, std::int64_t channels, const Engine& engine, std::int64_t batch) {
  const std::unique_ptr<Predictor> predictor =
      engine_predictor(std::make_unique<WindowEngine>(windows, channels, engine, batch));
  const std::int64_t elements = predictor->batch() * channels * element_count(windows.roi());
  std::memset(predictor->windows(), 0, static_cast<std::size_t>(byte_size(predictor->dtype(), elements)));
  double best = 0;
  for (int i = 0; i < 3; ++i) {   // the first ones set up what the others find
    const Clock::time_point begin = Clock::now();
    predictor->run(predictor->batch(), 0);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (i > 0) best = std::max(best, static_cast<double>(predictor->batch()) / std::max(seconds, 1e-9));
  }
  return best;
}

// Sweeps in threads, and what they have to tell.
class Workers {
 public:
  explicit Workers(const SweepOptions& options) : options_(options) {}
  void start(std::function<void(const SweepOptions&)> work, Range rows, std::int64_t memory) {
    const std::size_t number = threads_.size();
    done_.push_back(0), totals_.push_back(0), seconds_.emplace_back(), ++running_;
    SweepOptions own = options_;
    own.several = SeveralEngines::mean, own.first_row = rows.begin, own.end_row = rows.end;
    own.memory = memory;
    own.seconds = options_.seconds != nullptr ? &seconds_.back() : nullptr;
    own.progress = [this, number](std::int64_t done, std::int64_t total) { return report(number, done, total); };
    own.log = [this](Severity severity, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(severity, line);
    };
    threads_.emplace_back([this, work = std::move(work), own = std::move(own)] { run(work, own); });
  }
  // Until all are done; throws what one threw.
  void wait() {
    std::exception_ptr stop;
    for (bool more = true; more;) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return changes_ > 0 || running_ == 0; });
      more = running_ > 0, changes_ = 0;
      try {
        tell(lock);
      } catch (...) {
        if (!stop) stop = std::current_exception();
        lock.lock(), stopped_ = true;
      }
    }
    for (std::thread& one : threads_) one.join();
    threads_.clear();
    if (stop) std::rethrow_exception(stop);
    if (error_) std::rethrow_exception(error_);
    if (options_.seconds != nullptr)
      for (const SweepSeconds& one : seconds_)
        options_.seconds->reading += one.reading, options_.seconds->waiting += one.waiting;
  }

 private:
  void run(const std::function<void(const SweepOptions&)>& work, const SweepOptions& own) {
    std::exception_ptr error;
    try {
      work(own);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (error && !error_ && !stopped_) error_ = error;
    stopped_ = stopped_ || error;
    --running_, ++changes_;
    changed_.notify_all();
  }
  bool report(std::size_t number, std::int64_t done, std::int64_t total) {
    const std::lock_guard lock(mutex_);
    done_[number] = done, totals_[number] = total, ++changes_;
    changed_.notify_all();
    return !stopped_;
  }
  // The caller, without the lock, which is open afterwards.
  void tell(std::unique_lock<std::mutex>& lock) {
    std::vector<std::pair<Severity, std::string>> lines;
    lines.swap(lines_);
    const bool known = std::all_of(totals_.begin(), totals_.end(), [](std::int64_t one) { return one > 0; });
    const std::int64_t done = std::accumulate(done_.begin(), done_.end(), std::int64_t{0}),
                       total = std::accumulate(totals_.begin(), totals_.end(), std::int64_t{0});
    const bool stopped = stopped_;
    lock.unlock();
    for (const auto& [severity, line] : lines) Log(options_.log)(severity, line);
    if (stopped) return;
    throw_if_cancelled();
    if (!known || done == told_) return;
    told_ = done;
    require(!options_.progress || options_.progress(done, total), ErrorKind::cancelled,
            "the caller stopped the sweep after ", done, " of ", total, " windows");
  }

  const SweepOptions& options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
  std::vector<std::int64_t> done_, totals_;
  std::deque<SweepSeconds> seconds_;
  std::vector<std::pair<Severity, std::string>> lines_;
  std::exception_ptr error_;
  std::int64_t told_ = -1;
  int running_ = 0, changes_ = 0;
  bool stopped_ = false;
};

}  // namespace

void sweep_on_devices(const SlidingWindow& windows, ImageSource& source, std::span<const Engine> engines,
                      const MakeSink& sinks, const SweepOptions& options, const SweepOfOne& sweep) {
  const SlidingWindow moved = turned(windows, sweep_order(windows, options));
  const windows::WindowState& own = windows::WindowAccess::of(moved);
  const OutputOptions outputs(own, source.shape()[0], turned(options, sweep_order(windows, options)).stitch);
  const std::int64_t rows = outputs.extents[1], last = options.end_row > 0 ? options.end_row : rows;
  require(0 <= options.first_row && options.first_row < last && last <= rows, ErrorKind::invalid_argument, "rows ",
          options.first_row, " to ", last, ": expected some of ", rows);
  std::vector<std::int64_t> ends;
  for (const std::int64_t end : possible_ends(own.grid[1], rows, 1))
    if (end > options.first_row && end < last) ends.push_back(end);
  ends.push_back(last);
  std::vector<double> speeds;
  for (const Engine& one : engines) speeds.push_back(speed_of(windows, source.shape()[1], one, options.window_batch));
  const std::vector<Range> bands = rows_by_speed(speeds, ends, options.first_row);
  const MemoryShare share = share_memory(options.memory, bands);
  const bool one_gpu = std::all_of(engines.begin(), engines.end(),
                                   [&](const Engine& e) { return device_of(e) == device_of(engines[0]); });
  SharedSource shared(source, one_gpu);
  LockedSinks locked(sinks, one_gpu);
  const MakeSink make = [&](std::size_t output) { return locked.sink(output); };
  Workers workers(options);
  for (std::size_t d = 0; d < engines.size(); ++d) {
    Log(options.log)(Severity::info, "sweep: device ", d, " (", device_of(engines[d]), ") computes rows ",
                     bands[d].begin, " to ", bands[d].end, " of ", rows,
                     share.each > 0 ? cat(", in ", share.each, " bytes") : std::string());
    if (bands[d].count() == 0) continue;
    workers.start(
        [&, d](const SweepOptions& with) { within_share(share, [&] { sweep(shared, engines[d], make, with); }); },
        bands[d], share.each);
  }
  workers.wait();
}

}  // namespace tenfold::imaging
