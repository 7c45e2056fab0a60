// Python functions that a build, a load or an engine calls: with the interpreter's lock, and with what they raise kept for the caller.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "native/long_call.h"
#include "tenfold/build.h"

namespace tenfold::python {

// Of build(), load() and the like, or of an object whose calls build when they need an engine. The first exception of a callback cancels
// the build and comes out of the call as it was raised: of the one whose thread the callback was called in, or else of the newest. What a
// log function raises outside of them all, in a run, goes to sys.unraisablehook.
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

  // Calls `work` without the lock, then raises what a callback or a signal's handler raised.
  template <class Work>
  auto run(Work work) {
    LongCall call;
    const Listed listed(*this, call);
    return call.run(work);
  }

 private:
  // Of calls whose work is under way.
  struct Listed {
    Listed(Callbacks& callbacks, LongCall& call);
    ~Listed();
    Callbacks& callbacks;
    LongCall& call;
  };
  bool failed() const;
  void keep_exception() noexcept;  // with the lock: takes the one that is set
  template <class Use>
  auto with_call(const Use& use) const;   // `use` of the call that an exception of this thread belongs to, or of null
  bool go_on(const Progress& progress);

  Held log_, progress_;
  mutable std::mutex mutex_;
  std::vector<LongCall*> calls_;
};

const char* name_of(Severity severity);  // "verbose", "info", "warning", "error"

}  // namespace tenfold::python
