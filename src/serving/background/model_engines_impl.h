// What ModelEngines has: its engines in slots, by the shapes that they serve.
#pragma once

#include <sys/types.h>

#include <set>

#include "background/ranges.h"
#include "background/tuned_build.h"
#include "background/worker.h"
#include "base/log.h"
#include "tenfold/engine_slot.h"

namespace tenfold {

// Work that runs has it too: the last caller may go inside of it, in a function that is told of lines.
struct ModelEngines::Impl : std::enable_shared_from_this<ModelEngines::Impl> {
  using Lock = std::unique_lock<std::mutex>;

  // The engine for some shapes, whichever it is now. All but `slot`'s own content is under the worker's lock.
  struct Place {
    int way = 0;
    background::Ranges requested, served;  // what a tuned engine is to serve; what the one that is here serves
    std::unique_ptr<EngineSlot> slot;
    std::uint64_t number = 0;
    bool tuned = false, pending = false;
    std::string failure;
    std::int64_t requests = 0;
    std::uint64_t used = 0;                           // by a clock of uses
    std::map<background::Shapes, std::int64_t> seen;  // until a build for them begins
  };
  using Places = std::vector<std::shared_ptr<Place>>;

  Impl(background::Model model, ModelEnginesOptions options);

  // Under the lock.
  std::optional<ServedEngine> find(std::span<const Shape> shapes, int of_way);
  Place* best(std::span<const Shape> shapes, int of_way) const;
  ServedEngine given(Place& place);
  // Without it.
  ServedEngine engine_for(std::span<const Shape> shapes, const BuildWatch& watch);
  // Of one way, whatever the others do. `lock` is held at first, and left.
  ServedEngine engine_of(int of_way, std::span<const Shape> shapes, const BuildWatch& watch, Lock& lock);
  bool leave(int failed, ErrorKind kind, const std::string& why);

  const background::Model model;
  ModelEnginesOptions options;
  Log log;
  std::vector<BindingInfo> bindings;
  std::vector<int> open;                      // indices among bindings
  std::vector<background::OpenInput> inputs;  // the same
  background::Worker& worker = background::Worker::of_process();
  Places places;
  std::vector<EngineWay> ways;
  int way = 0;                                // which engines are given
  bool exact_only = false;  // the model cannot be built for ranges
  BuildCounts counts;

 private:
  struct Turn;
  BuildConfig config_for(const background::Ranges& ranges, int level, int of_way) const;
  // For callers.
  Engine built_for(const background::Ranges& ranges, const BuildWatch& watch, int of_way);
  std::string program_for_callers(const BuildConfig& config);
  ServedEngine add(std::span<const Shape> shapes, const BuildWatch& watch, int of_way);
  bool widen(Place& place, const background::Ranges& requested, const BuildWatch& watch);
  ServedEngine keep(std::shared_ptr<Place> place, bool tune_it);
  void put(Place& place, Engine engine, const background::Ranges& ranges, bool tuned);
  void no_ranges(const std::string& why);
  // By the worker.
  void tune(Place& place);
  void tune_for(Place& place, const background::Ranges& ranges);
  Engine tuned_engine(const background::Ranges& ranges, int of_way);
  void log_line(Severity severity, const std::string& text) const noexcept;
  void log_takeover(const background::Ranges& ranges);
  void log_failure(const background::Ranges& ranges, const std::string& why);

  bool isolation_logged = false;   // of the thread that builds
  pid_t building = 0;  // the process whose thread builds for a caller; another's: nobody does
  std::uint64_t clock = 0, numbers = 0;
  std::vector<int> processors;  // that the thread had which made this, whatever engines pin later
  // Of the worker alone.
  std::optional<std::string> why_here;  // why builds stay in this process, once it was asked
  bool takeover_logged = false;
  std::set<std::string> reported;  // failures
};

namespace background {
// What a model that takes single shapes may say of ranges of them.
inline bool is_the_ranges_fault(ErrorKind kind) {
  return kind == ErrorKind::invalid_argument || kind == ErrorKind::invalid_model || kind == ErrorKind::unsupported;
}
}  // namespace background

}  // namespace tenfold
