// ModelEngines: the engines of one model for the shapes that come. Each is found or built when it is asked for, and may
// be tuned in the background.
//
// Extents that the model leaves open need no profile. The first request for some shapes builds an engine, which is
// kept. A request that a kept engine fits gets that engine at once. `Tune` says how the build searches and what follows
// it:
//   now         with timing, as BuildConfig says, for these exact shapes; the caller waits
//   never       untimed (level 0), for these exact shapes
//   background  untimed, for these exact shapes; then a tuned plan for the range around them is made and takes the
//               engine's place (with optimization_level 0, which times nothing, this is `never`)
//
// The range around an extent goes from the power of two below it to the one above (37: 32 to 64; 64: 64 alone). It is
// tuned for the shapes that were requested most in it until then. Other shapes in the range get one untimed plan for
// the whole range. So a range costs two untimed builds at most, however many shapes it sees. Any engine that fits may
// serve: a tuned one first, then the one with the smallest range. Where a model cannot be built for a range, its plans
// are for exact shapes, and the log tells of it.
//
// Another process makes the tuned plan: the program `tenfold`, at low priority. A process has at most one at a time,
// whatever the number of models. It ends with this process, leaves no file behind, and gets no signal that a terminal
// sends to its programs. Some configurations cannot be handed to another process: those with
// BuildConfig::choose_tactic, with timings, or with plug-ins that no library gave. They are tuned in a thread of this
// process, and so is everything where the program is missing; the log says why. If a build fails, the log says why
// once, and the untimed engine stays. Limits of BuildConfig::runtime do not bind the other process: on a GPU it takes
// memory of its own while it works.
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

// Where engines run, and how they are tuned there.
struct EngineWay {
  std::string device;
  Tune tune = Tune::never;
};

struct ModelEnginesOptions {
  // If profiles are given, one engine serves them, and its contexts refuse all other shapes. Builds that a caller waits
  // for tell `log` and `progress`. Builds in the background tell `log` alone, from a thread of their own.
  BuildConfig build;
  Tune tune = Tune::now;
  // A folder to keep plans in. `now` and `never` keep all plans; `background` keeps the tuned ones, which the next
  // process has at once. If several processes want the same plan, one of them builds it.
  std::optional<PlanCache> cache;
  int max_engines = 16;  // how many engines are kept; beyond that, the one that was used longest ago goes
  std::string tuner;      // the program `tenfold`; empty: the one that belongs to this library
  // Whether that program makes the plans that callers wait for, too, so that a build that crashes is an Error for them and nothing else.
  // Where it cannot, they are made in this process, and the log says why.
  bool isolate_builds = false;
  // What follows build.device and `tune`, in this order, where the device gives no engine, or where an engine fails (report_failure()).
  std::vector<EngineWay> fallback;
};

// What a ModelEngines has for a range of shapes.
struct ServedShapes {
  OptimizationProfile shapes;  // what its engine serves, for the inputs with open extents
  bool tuned = false;          // the engine was timed, or comes from the cache
  bool pending = false;        // a tuned plan will follow
  std::string failure;         // why no tuned plan could be made; empty: nothing failed
  std::int64_t requests = 0;      // how often the engine was given
  std::uint64_t number = 0;    // ServedEngine::number of the engine that serves them now
};

// The engine for some shapes, as it is now. Whoever keeps it keeps this one, whatever takes its place.
struct ServedEngine {
  Engine engine;
  std::uint64_t number = 0;  // number of this engine among all that the ModelEngines has had
  bool tuned = false;
  bool settled = false;  // no other engine will take its place
  int way = 0;           // 0: that of build.device and `tune`; n: fallback[n - 1]
};

// How the engines that callers waited for came: from builds, and from the cache.
struct BuildCounts {
  int built = 0, cached = 0;
};

// Watches the builds that one call waits for, in place of the callbacks of BuildConfig.
struct BuildWatch {
  LogCallback log;
  std::function<bool(const Progress&)> progress;
};

// Thread safe. A thread that needs no build never waits for one. No thread and no process starts before an engine was
// given in the mode `background`. After a fork, the child has the engines that were there, and tunes for itself.
class TENFOLD_API ModelEngines {
 public:
  // Read the inputs and outputs of the model, and build nothing. Throw what model_bindings() throws, and
  // invalid_argument.
  ModelEngines(const std::string& onnx_path, ModelEnginesOptions options);
  ModelEngines(std::vector<std::byte> onnx, ModelEnginesOptions options);
  // Ends builds in the background for this model and waits for them. It does not wait if one of their own callbacks
  // calls it.
  ~ModelEngines();
  ModelEngines(const ModelEngines&) = delete;
  ModelEngines& operator=(const ModelEngines&) = delete;

  const std::vector<BindingInfo>& bindings() const noexcept;
  // Indices among bindings() of the inputs whose shapes choose the engine, which are those with open extents. None if
  // profiles are given.
  const std::vector<int>& open_inputs() const noexcept;

  // The engine for these shapes of open_inputs(), in their order. It is built if there is none. Throws invalid_argument
  // if an input cannot have such a shape, and what builds throw.
  ServedEngine engine_for(std::span<const Shape> shapes, const BuildWatch& watch = {});
  // The same by name. Names of other inputs may be there, too, and do not count.
  ServedEngine engine_for(const std::map<std::string, Shape>& shapes, const BuildWatch& watch = {});
  // The same engine if it needs no build; else nothing.
  std::optional<ServedEngine> find(std::span<const Shape> shapes);
  // The engine that was used last. If there is none, an engine for open extents of 1.
  ServedEngine any_engine(const BuildWatch& watch = {});

  // What a FallbackChain (fallback_chain.h) has for engines. report_failure(): a run of this engine failed, so the next way is gone;
  // engines of a device that is lost to the process are let go. false: there is no next one, and this engine is given on. prepare():
  // has the engine of another way made where one engine serves all shapes, so that it is there when it is needed.
  bool report_failure(const ServedEngine& engine, ErrorKind kind, const std::string& why);
  void restart();        // begins at the first way
  int way() const;       // which engines are given now
  void prepare(int way);

  std::vector<ServedShapes> served() const;
  BuildCounts builds() const;
  // Waits until nothing is being tuned for this model. Returns false if that takes longer.
  bool wait(std::chrono::nanoseconds longest) const;

  struct TENFOLD_NOT_EXPORTED Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

// Ends all builds in the background, of all models, and waits for their threads and processes. From then on none
// begins, and untimed engines stay. exit() does this by itself. An interpreter whose functions those threads may call
// (of a log or a plug-in) must call it before it ends.
TENFOLD_API void end_background_builds() noexcept;

}  // namespace tenfold
