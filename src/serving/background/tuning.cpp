// Tuning behind the callers' backs: what the worker does for a place, and how its engine gets there.
#include <algorithm>

#include "background/model_engines_impl.h"
#include "base/threads/cpu_places.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold {

using namespace background;

// The engine that was there goes without the lock, if nobody has it any more.
void ModelEngines::Impl::put(Place& place, Engine engine, const Ranges& ranges, bool tuned) {
  const Engine before = place.slot->get();
  const Lock lock(worker.mutex());
  if (!tuned && place.tuned) return;  // the better one was faster
  place.slot->replace(std::move(engine));
  place.number = ++numbers, place.tuned = tuned, place.served = ranges;
  if (tuned) place.requested = ranges;
  worker.notify();
}

void ModelEngines::Impl::tune(Place& place) {
  Ranges ranges;
  {
    const Lock lock(worker.mutex());
    if (!place.pending) return;  // a fork between the last line of this work and its end: it was done
    const auto max = std::max_element(place.seen.begin(), place.seen.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    ranges = exact_only ? exactly(max->first) : background::tuned_for(place.requested, max->first);
  }
  stay_on(processors);
  std::string failure;
  try {
    tune_for(place, ranges);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::cancelled || !who_ends_work()) failure = error.what();   // a time limit ends the build, not this work
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "a build callback threw something other than a std::exception";
  }
  if (!failure.empty()) log_failure(ranges, failure);
  const Lock lock(worker.mutex());
  place.pending = false, place.failure = failure;
  place.seen.clear();
  worker.notify();
}

// For the usual shapes alone, where a range of them is what cannot be built.
void ModelEngines::Impl::tune_for(Place& place, const Ranges& ranges) {
  std::string why;
  try {
    put(place, tuned_engine(ranges, place.way), ranges, true);
    return log_takeover(ranges);
  } catch (const Error& error) {
    if (exact(ranges) || !is_the_ranges_fault(error.kind())) throw;
    why = error.what();
  }
  Shapes usual;
  for (const ShapeRange& range : ranges) usual.push_back(range.opt);
  const Ranges single = exactly(usual);
  put(place, tuned_engine(single, place.way), single, true);
  no_ranges(why);
  log_takeover(single);
}

Engine ModelEngines::Impl::tuned_engine(const Ranges& ranges, int of_way) {
  BuildConfig config = config_for(ranges, -1, of_way);
  config.progress = nullptr, config.dump = nullptr;
  if (!why_here) {
    why_here = why_in_this_process(config, options.tuner);
    if (!why_here->empty())
      log_line(Severity::warning, cat("tuning takes place in a thread of this process, not in another one: ", *why_here));
  }
  const bool here = !why_here->empty();
  if (here)
    config.log = [log = log](Severity severity, std::string_view text) {
      log(severity == Severity::verbose ? severity : Severity::info, "tuning in the background: ", text);
    };
  return build_tuned(model, config, here ? "" : options.tuner, options.cache ? &*options.cache : nullptr);
}

// What a caller's function throws in the worker's thread has nowhere to go.
void ModelEngines::Impl::log_line(Severity severity, const std::string& text) const noexcept {
  try {
    log(severity, text);
  } catch (...) {
  }
}

void ModelEngines::Impl::log_takeover(const Ranges& ranges) {
  const std::string what = cat("a tuned plan for ", text_of(inputs, ranges), " has taken the place of the untimed one");
  if (std::exchange(takeover_logged, true)) return log_line(Severity::info, what);
  log_line(Severity::warning, cat(what, "; the last bits of results may differ from here on, and again where others follow"));
}

// The same reason for other shapes is heard once.
void ModelEngines::Impl::log_failure(const Ranges& ranges, const std::string& why) {
  if (!reported.insert(why).second) return;
  log_line(Severity::warning, cat("no tuned plan could be made in the background for ", text_of(inputs, ranges),
                              ", the untimed one stays: ", why));
}

}  // namespace tenfold
