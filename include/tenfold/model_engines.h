// ModelEngines: the engines of one model for whatever shapes come, found or made when they are asked for, and tuned
// behind the callers' backs.
//
// Extents that the model leaves open need no profile. What is asked for first at some shapes is built then, and kept;
// what was kept and fits is given at once. How that build searches, and what comes after it, is `Tune`:
//   now         with timing, as BuildConfig says, for these very shapes; the caller waits
//   never       untimed (level 0), for these very shapes
//   background  untimed, for these very shapes; then a tuned plan is made for the range around them, and takes the
//               engine's place (at optimization_level 0 nothing would be timed: that is `never`)
//
// The range around an extent goes from the power of two below it to the one above (37: 32 to 64; 64: 64 alone), tuned
// for the shapes that were asked for most in it until then. Other shapes in the range get an untimed plan for all of
// it, so that a range costs two untimed builds at most, however many shapes it sees. Any engine that fits serves, a
// tuned one first, then the one of the least range. Where a model cannot be built for a range, which the log is told,
// its plans are for the very shapes.
//
// The tuned plan is made in another process: the program `tenfold`, at low priority, one for the process at a time,
// whatever the number of models. It ends with this process, leaves no file behind, and is not seen by a signal to the
// terminal's programs. What cannot be handed to another process (BuildConfig::choose_tactic, timings, plug-ins that are
// no library's) is tuned in a thread of this one instead, and so is all where the program is missing; the log is told
// why. A build that fails is told once, with the reason, and the untimed engine stays. Limits of BuildConfig::runtime
// are not the other process's: on a GPU it takes memory of its own while it works.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenfold/build.h"
#include "tenfold/engine.h"
#include "tenfold/export.h"
#include "tenfold/plan_cache.h"

namespace tenfold {

enum class Tune : std::uint8_t { now, never, background };

struct ModelEnginesOptions {
  // Where profiles are given, one engine serves them, and others' shapes are refused by its contexts. `log` and
  // `progress` are of builds that a caller waits for; builds in the background tell `log` alone, from a thread of their
  // own.
  BuildConfig build;
  Tune tune = Tune::now;
  // Where plans are kept: of `now` and `never` all of them; of `background` the tuned ones, which the next process has
  // at once. Of several processes that want one plan one builds it.
  std::optional<PlanCache> cache;
  int most_engines = 16;  // that are kept; beyond it the one that was used longest ago goes
  std::string tuner;      // the program `tenfold`; empty: the one that belongs to this library
};

// What there is for some shapes.
struct ServedShapes {
  OptimizationProfile shapes;  // of the inputs with open extents: what the engine that is there serves
  bool tuned = false;          // timed, or from the cache
  bool pending = false;        // a tuned plan is to come
  std::string failure;         // why none could be made; empty: nothing failed
  std::int64_t asked = 0;      // how often it was given
  std::uint64_t number = 0;    // of the engine that serves them now, as in ServedEngine
};

// An engine, as it is now. Who keeps it has this one, whatever takes its place.
struct ServedEngine {
  Engine engine;
  std::uint64_t number = 0;  // of this engine among all that this object has had
  bool tuned = false;
  bool settled = false;  // no other will take its place
};

// What watches the builds that one call waits for, in the place of BuildConfig's own.
struct BuildWatch {
  LogCallback log;
  std::function<bool(const Progress&)> progress;
};

// Thread safe; threads that need no build never wait for one that goes on. No thread and no process starts before an
// engine was given in the mode `background`. After a fork the child has the engines that were there, and tunes for
// itself.
class TENFOLD_API ModelEngines {
 public:
  // Reads the inputs and outputs of the model, and builds nothing. Throw what model_bindings() throws, and
  // invalid_argument.
  ModelEngines(const std::string& onnx_path, ModelEnginesOptions options);
  ModelEngines(std::vector<std::byte> onnx, ModelEnginesOptions options);
  // What is built in the background for it is ended, and waited for, except by a function that this work itself calls.
  ~ModelEngines();
  ModelEngines(const ModelEngines&) = delete;
  ModelEngines& operator=(const ModelEngines&) = delete;

  const std::vector<BindingInfo>& bindings() const noexcept;
  // Indices among bindings() of the inputs whose shapes decide about the engine: those with open extents; none where
  // profiles are given.
  const std::vector<int>& open_inputs() const noexcept;

  // The engine for these shapes of the open inputs, in their order, built if there is none. Throws invalid_argument
  // where a shape is none of the input's, and what builds throw.
  ServedEngine engine_for(std::span<const Shape> shapes, const BuildWatch& watch = {});
  // The same by name. What is no open input may be there as well, and is not looked at.
  ServedEngine engine_for(const std::map<std::string, Shape>& shapes, const BuildWatch& watch = {});
  // The same if no build is needed for it; else nothing.
  std::optional<ServedEngine> find(std::span<const Shape> shapes);
  // One that is there, the one used last; else one for open extents of 1.
  ServedEngine any_engine(const BuildWatch& watch = {});

  std::vector<ServedShapes> served() const;
  // Until nothing is being tuned for this model. False: it took longer.
  bool wait(std::chrono::nanoseconds longest) const;

  struct TENFOLD_NOT_EXPORTED Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

// Ends all builds in the background, of all models, and waits for their threads and processes; from then on none
// begins, and untimed engines stay what they are. It is done at exit() by itself; an interpreter whose functions may be
// called from those threads (a log's, a plug-in's) does it before it goes.
TENFOLD_API void end_background_builds() noexcept;

}  // namespace tenfold
