// Tuning behind the callers' backs: what the worker does for a place, and how its engine gets there.
#include <algorithm>

#include "background/model_engines_impl.h"
#include "base/cpu_places.h"

namespace tenfold {

using namespace background;

// The engine that was there goes without the lock, if nobody has it any more.
void ModelEngines::Impl::put(Place& place, Engine engine, const Ranges& ranges, bool tuned) {
  const Engine before = place.slot->get();
  const Lock lock(worker.mutex());
  if (!tuned && place.tuned) return;  // the better one was quicker
  place.slot->replace(std::move(engine));
  place.number = ++numbers, place.tuned = tuned, place.served = ranges;
  if (tuned) place.wanted = ranges;
  worker.tell();
}

void ModelEngines::Impl::tune(const std::shared_ptr<Place>& place) {
  Ranges ranges;
  bool gone = false;
  {
    const Lock lock(worker.mutex());
    if (!place->pending) return;  // a fork between the last line of this work and its end: it was done
    const auto most = std::max_element(place->seen.begin(), place->seen.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    ranges = exact_only ? exactly(most->first) : background::tuned_for(place->wanted, most->first);
    gone = place->gone;
  }
  stay_on(processors);
  bool again = false;
  std::string failure;
  if (!gone) {
    try {
      put(*place, tuned_engine(ranges), ranges, true);
      tell_of_takeover(ranges);
    } catch (const Error& error) {
      again = !exact(ranges) && is_the_ranges_fault(error.kind());
      if (again)
        no_ranges(error.what());
      else if (error.kind() != ErrorKind::cancelled)
        failure = error.what();
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }
  if (again) return tune(place);
  if (!failure.empty()) tell_of_failure(ranges, failure);
  const Lock lock(worker.mutex());
  place->pending = false, place->failure = failure;
  place->seen.clear();
  worker.tell();
}

Engine ModelEngines::Impl::tuned_engine(const Ranges& ranges) {
  BuildConfig config = config_for(ranges, -1);
  config.progress = nullptr, config.dump = nullptr;
  if (!why_here) {
    why_here = why_in_this_process(config, options.tuner);
    if (!why_here->empty())
      log(Severity::warning, "tuning takes place in a thread of this process, not in another one: ", *why_here);
  }
  const bool here = !why_here->empty();
  if (here)
    config.log = [log = log](Severity, std::string_view text) {
      log(Severity::info, "tuning in the background: ", text);
    };
  return build_tuned(model, config, here ? "" : options.tuner, options.cache ? &*options.cache : nullptr);
}

void ModelEngines::Impl::tell_of_takeover(const Ranges& ranges) {
  const std::string what = cat("a tuned plan for ", text_of(inputs, ranges), " has taken the place of the untimed one");
  if (std::exchange(told_of_takeover, true)) return log(Severity::info, what);
  log(Severity::warning, what, "; the last bits of results may differ from here on, and again where others follow");
}

// The same reason for other shapes is heard once.
void ModelEngines::Impl::tell_of_failure(const Ranges& ranges, const std::string& why) {
  if (!told.insert(why).second) return;
  log(Severity::warning, "no tuned plan could be made in the background for ", text_of(inputs, ranges),
      ", the untimed one stays: ", why);
}

}  // namespace tenfold
