// Python functions that a build, a load or an engine calls: with the interpreter's lock, and with what they raise kept for the caller.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "python_state.h"
#include "tenfold/build.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::python {

// Of one call of build(), load() and the like. The first exception of a callback, Ctrl-C among them, cancels the build and comes out of
// the call as it was raised. What a log function raises later, in a run, goes to sys.unraisablehook.
class Callbacks : public std::enable_shared_from_this<Callbacks> {
 public:
  void log_to(nb::handle function) { log_ = hold(function); }
  void progress_to(nb::handle function) { progress_ = hold(function); }
  LogCallback log();                // to the function, or to the logger "tenfold"
  void watch(BuildConfig& config);  // sets progress, always: signals are looked for there
  std::function<int(const TacticQuestion&)> choose(nb::handle function);
  std::function<void(std::string_view, std::string_view)> dump(nb::handle function);
  // Of a function from the index to a dict of arrays or None, or of a sequence of such dicts.
  std::function<std::optional<InputSet>(int)> sample(nb::handle source);
  // Of a function of two lists of dicts from outputs to arrays: the reference's answers and the plan's.
  std::function<double(std::span<const OutputSet>, std::span<const OutputSet>)> measure(nb::handle function);

  // Calls `work` without the lock, then raises what a callback raised.
  template <class Work>
  auto run(Work work) {
    try {
      if constexpr (std::is_void_v<decltype(work())>) {
        unlocked(work);
        finish();
      } else {
        auto result = unlocked(work);
        finish();
        return result;
      }
    } catch (const Error&) {
      finish();
      throw;
    }
  }

 private:
  template <class Work>
  auto unlocked(Work& work) {
    const Interrupts interrupts([this] { return look(); });
    const Unlocked without;
    return work();
  }
  bool failed() const;
  void keep_exception() noexcept;  // with the lock: takes the one that is set
  void finish();                   // raises what was kept
  bool look();                     // for signals, now and then; false: something was raised
  bool go_on(const Progress& progress);

  Held log_, progress_, exception_;
  mutable std::mutex mutex_;
  bool over_ = false;
  std::chrono::steady_clock::time_point looked_{};
};

const char* name_of(Severity severity);  // "verbose", "info", "warning", "error"

}  // namespace tenfold::python
