// Giving engines: what is there and fits, else a build that the caller waits for.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "background/model_engines_impl.h"
#include "base/threads/cpu_places.h"
#include "builder/rebuild/load_options.h"
#include "runtime/shared/runtime.h"
#include "tenfold/device_error.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold {

using namespace background;

namespace {

constexpr std::size_t kMaxSeen = 64;  // sets of shapes that are counted

std::string absolute(const std::string& path) { return path.empty() ? path : std::filesystem::absolute(path).string(); }

}  // namespace

// One build for callers at a time, in each process. The others wait where they have no engine.
struct ModelEngines::Impl::Turn {
  Impl& impl;
  ~Turn() {
    const Lock lock(impl.worker.mutex());
    impl.building = 0;
    impl.worker.notify();
  }
};

ModelEngines::Impl::Impl(Model given, ModelEnginesOptions requested)
    : model(std::move(given)), options(std::move(requested)), processors(CpuPlaces::of_this_thread().order()) {
  require(options.max_engines > 0, ErrorKind::invalid_argument, "max_engines is ", options.max_engines,
          ", expected 1 or more");
  require(options.tune <= Tune::background, ErrorKind::invalid_argument, "there is no way to tune of number ",
          static_cast<int>(options.tune));
  for (const EngineWay& one : options.fallback)
    require(one.tune <= Tune::background, ErrorKind::invalid_argument, "there is no way to tune of number ", static_cast<int>(one.tune));
  BuildConfig& config = options.build = runtime::with_runtime(options.build);
  log = Log(config.log);
  ways = {{config.device, options.tune}};
  ways.insert(ways.end(), options.fallback.begin(), options.fallback.end());
  for (EngineWay& one : ways)
    if (one.tune == Tune::background && config.optimization_level == 0) one.tune = Tune::never;
  // The process may go to another folder before a build begins.
  config.timing_cache = absolute(config.timing_cache);
  for (std::string& folder : config.external_data_dirs) folder = absolute(folder);
  bindings = model.bindings(config);
  if (!config.profiles.empty()) return;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const BindingInfo& b = bindings[i];
    if (!b.is_input || std::find(b.shape.begin(), b.shape.end(), -1) == b.shape.end()) continue;
    open.push_back(static_cast<int>(i));
    inputs.push_back({b.name, b.shape});
  }
}

ModelEngines::Impl::Place* ModelEngines::Impl::best(std::span<const Shape> shapes, int of_way) const {
  Place* found = nullptr;
  for (const auto& place : places)
    if (place->way == of_way && fit(place->served, shapes) &&
        (!found || std::pair(!place->tuned, width(place->served)) < std::pair(!found->tuned, width(found->served))))
      found = place.get();
  return found;
}

ServedEngine ModelEngines::Impl::given(Place& place) {
  ++place.requests, place.used = ++clock;
  if (place.pending) worker.wake();
  return {place.slot->get(), place.number, place.tuned, !place.pending || worker.ended(), place.way};
}

std::optional<ServedEngine> ModelEngines::Impl::find(std::span<const Shape> shapes, int of_way) {
  Place* const place = best(shapes, of_way);
  if (!place) return std::nullopt;
  if (place->pending) {
    Shapes key(shapes.begin(), shapes.end());
    if (place->seen.size() < kMaxSeen || place->seen.count(key)) ++place->seen[std::move(key)];
  }
  return given(*place);
}

ServedEngine ModelEngines::Impl::engine_for(std::span<const Shape> shapes, const BuildWatch& watch) {
  check_shapes(inputs, shapes);
  while (true) {
    Lock lock(worker.mutex());
    const int of_way = way;
    try {
      return engine_of(of_way, shapes, watch, lock);
    } catch (const Error& error) {
      // Other errors say something of the model or the shapes.
      if (error.kind() != ErrorKind::device && error.kind() != ErrorKind::out_of_memory) throw;
      if (!leave(of_way, error.kind(), error.what())) throw;
    }
  }
}

ServedEngine ModelEngines::Impl::engine_of(int of_way, std::span<const Shape> shapes, const BuildWatch& watch, Lock& lock) {
  while (true) {
    if (std::optional<ServedEngine> found = find(shapes, of_way)) return *std::move(found);
    if (building != ::getpid()) break;
    worker.wait(lock);
    lock.unlock();
    throw_if_cancelled();
    lock.lock();
  }
  building = ::getpid();
  lock.unlock();
  const Turn turn{*this};
  return add(shapes, watch, of_way);
}

// Engines of a lost device go without the lock. false: no way is left.
bool ModelEngines::Impl::leave(int failed, ErrorKind kind, const std::string& why) {
  const bool lost = kind == ErrorKind::device && !device_health(ways[static_cast<std::size_t>(failed)].device);
  Places gone;
  std::string next;
  {
    const Lock lock(worker.mutex());
    if (way > failed) return true;             // somebody else was faster
    if (failed + 1 == static_cast<int>(ways.size())) return false;
    const std::string& device = ways[static_cast<std::size_t>(failed)].device;
    way = failed + 1;
    while (lost && way + 1 < static_cast<int>(ways.size()) && ways[static_cast<std::size_t>(way)].device == device) ++way;
    next = ways[static_cast<std::size_t>(way)].device;
    const auto from = std::stable_partition(places.begin(), places.end(), [&](const auto& place) {
      return !lost || ways[static_cast<std::size_t>(place->way)].device != device;
    });
    std::move(from, places.end(), std::back_inserter(gone));
    places.erase(from, places.end());
    worker.notify();
  }
  const std::string& device = ways[static_cast<std::size_t>(failed)].device;
  log_line(Severity::warning, cat("an engine on '", device, "' failed, so another one follows, on '", next, "': ", why));
  return true;
}

BuildConfig ModelEngines::Impl::config_for(const Ranges& ranges, int level, int of_way) const {
  BuildConfig config = options.build;
  config.device = ways[static_cast<std::size_t>(of_way)].device;
  if (!inputs.empty()) config.profiles = {profile_of(inputs, ranges)};
  if (level >= 0) config.optimization_level = level;
  return config;
}

// In the mode `now` a timed one.
Engine ModelEngines::Impl::built_for(const Ranges& ranges, const BuildWatch& watch, int of_way) {
  const Tune how = ways[static_cast<std::size_t>(of_way)].tune;
  BuildConfig config = config_for(ranges, how == Tune::now ? -1 : 0, of_way);
  if (watch.log) config.log = watch.log;
  if (watch.progress) config.progress = watch.progress;
  bool built = false;
  Engine engine = build_for_caller(model, config, program_for_callers(config),
                                   options.cache && how != Tune::background ? &*options.cache : nullptr, built);
  const Lock lock(worker.mutex());
  ++(built ? counts.built : counts.cached);
  return engine;
}

// Empty: they build here.
std::string ModelEngines::Impl::program_for_callers(const BuildConfig& config) {
  if (!options.isolate_builds) return "";
  std::string program = options.tuner;
  const std::string why = why_in_this_process(config, program);
  if (why.empty()) return program;
  if (!std::exchange(isolation_logged, true))
    log_line(Severity::warning, cat("builds take place in this process, which a crash of theirs would end: ", why));
  return "";
}

// The first engine for these shapes: a tuned one, if an earlier process has left it.
ServedEngine ModelEngines::Impl::add(std::span<const Shape> shapes, const BuildWatch& watch, int of_way) {
  const Tune how = ways[static_cast<std::size_t>(of_way)].tune;
  const bool behind = how == Tune::background;
  if (behind) {
    std::shared_ptr<Place> near;
    Ranges requested;
    {
      const Lock lock(worker.mutex());
      for (const auto& place : places)
        if (!exact_only && place->way == of_way && fit(place->requested, shapes)) near = place, requested = place->requested;
    }
    if (near && widen(*near, requested, watch)) {
      const Lock lock(worker.mutex());
      if (std::optional<ServedEngine> found = find(shapes, of_way)) return *std::move(found);
    }
  }
  auto place = std::make_shared<Place>();
  place->way = of_way;
  bool ranges = false;
  {
    const Lock lock(worker.mutex());
    ranges = behind && !exact_only;
  }
  place->served = exactly(shapes);
  place->requested = ranges ? around(inputs, shapes) : place->served;
  if (behind && options.cache) {
    const BuildConfig config = config_for(place->requested, -1, of_way);
    if (std::optional<Engine> kept = options.cache->find(tuned_key(model, config), builder::load_options(config))) {
      place->slot = std::make_unique<EngineSlot>(*std::move(kept));
      place->served = place->requested, place->tuned = true;
      {
        const Lock lock(worker.mutex());
        ++counts.cached;
      }
      return keep(std::move(place), false);
    }
  }
  place->slot = std::make_unique<EngineSlot>(built_for(place->served, watch, of_way));
  place->tuned = how == Tune::now;
  ++place->seen[Shapes(shapes.begin(), shapes.end())];
  return keep(std::move(place), behind);
}

// An untimed engine for all shapes that the tuned one will serve, in the place of the one for its first shapes. False:
// there can be none.
bool ModelEngines::Impl::widen(Place& place, const Ranges& requested, const BuildWatch& watch) {
  try {
    put(place, built_for(requested, watch, place.way), requested, false);
    return true;
  } catch (const Error& error) {
    if (!is_the_ranges_fault(error.kind())) throw;
    no_ranges(error.what());
    return false;
  }
}

void ModelEngines::Impl::no_ranges(const std::string& why) {
  {
    const Lock lock(worker.mutex());
    if (std::exchange(exact_only, true)) return;
  }
  log_line(Severity::warning,
       cat("the model cannot be built for ranges of shapes, so each set of shapes gets plans of its own: ", why));
}

ServedEngine ModelEngines::Impl::keep(std::shared_ptr<Place> place, bool tune_it) {
  Places gone;  // let go without the lock
  const Lock lock(worker.mutex());
  place->number = ++numbers;
  places.push_back(place);
  while (static_cast<int>(places.size()) > options.max_engines) {
    const auto oldest = std::min_element(places.begin(), places.end() - 1,
                                         [](const auto& a, const auto& b) { return a->used < b->used; });
    gone.push_back(std::move(*oldest));
    places.erase(oldest);
  }
  if (tune_it && !worker.ended()) {
    place->pending = true;
    // A place that had to go is not held by work that waits.
    worker.add(this, [self = shared_from_this(), waits = std::weak_ptr(place)] {
      if (const std::shared_ptr<Place> there = waits.lock()) self->tune(*there);
    });
  }
  return given(*place);
}

ModelEngines::ModelEngines(const std::string& path, ModelEnginesOptions options)
    : impl_(std::make_shared<Impl>(Model{absolute(path), {}}, std::move(options))) {}
ModelEngines::ModelEngines(std::vector<std::byte> onnx, ModelEnginesOptions options)
    : impl_(std::make_shared<Impl>(Model{"", std::move(onnx)}, std::move(options))) {}
ModelEngines::~ModelEngines() { impl_->worker.drop(impl_.get()); }

const std::vector<BindingInfo>& ModelEngines::bindings() const noexcept { return impl_->bindings; }
const std::vector<int>& ModelEngines::open_inputs() const noexcept { return impl_->open; }

ServedEngine ModelEngines::engine_for(std::span<const Shape> shapes, const BuildWatch& watch) {
  return impl_->engine_for(shapes, watch);
}

ServedEngine ModelEngines::engine_for(const std::map<std::string, Shape>& shapes, const BuildWatch& watch) {
  Shapes in_order;
  for (const OpenInput& input : impl_->inputs) {
    const auto given = shapes.find(input.name);
    require(given != shapes.end(), ErrorKind::invalid_argument, "input '", input.name,
            "' is missing: no shape is given for it");
    in_order.push_back(given->second);
  }
  return impl_->engine_for(in_order, watch);
}

std::optional<ServedEngine> ModelEngines::find(std::span<const Shape> shapes) {
  if (shapes.size() != impl_->inputs.size()) return std::nullopt;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i].size() != impl_->inputs[i].declared.size()) return std::nullopt;
  const Impl::Lock lock(impl_->worker.mutex());
  return impl_->find(shapes, impl_->way);
}

ServedEngine ModelEngines::any_engine(const BuildWatch& watch) {
  {
    const Impl::Lock lock(impl_->worker.mutex());
    ModelEngines::Impl::Place* latest = nullptr;
    for (const auto& place : impl_->places)
      if (place->way == impl_->way && (!latest || latest->used < place->used)) latest = place.get();
    if (latest) return impl_->given(*latest);
  }
  Shapes ones;
  for (const OpenInput& input : impl_->inputs) {
    ones.push_back(input.declared);
    std::replace(ones.back().begin(), ones.back().end(), std::int64_t{-1}, std::int64_t{1});
  }
  return impl_->engine_for(ones, watch);
}

std::vector<ServedShapes> ModelEngines::served() const {
  const Impl::Lock lock(impl_->worker.mutex());
  std::vector<ServedShapes> list;
  for (const auto& p : impl_->places)
    list.push_back({profile_of(impl_->inputs, p->served), p->tuned, p->pending && !impl_->worker.ended(), p->failure, p->requests,
                    p->number});
  return list;
}

bool ModelEngines::report_failure(const ServedEngine& engine, ErrorKind kind, const std::string& why) {
  return impl_->leave(engine.way, kind, why);
}

void ModelEngines::restart() {
  const Impl::Lock lock(impl_->worker.mutex());
  impl_->way = 0;
}

int ModelEngines::way() const {
  const Impl::Lock lock(impl_->worker.mutex());
  return impl_->way;
}

void ModelEngines::prepare(int way) {
  require(way >= 0 && way < static_cast<int>(impl_->ways.size()), ErrorKind::invalid_argument, "there is no way ", way, " to an engine");
  if (!impl_->inputs.empty()) return;
  Impl::Lock lock(impl_->worker.mutex());
  impl_->engine_of(way, {}, {}, lock);
}

BuildCounts ModelEngines::builds() const {
  const Impl::Lock lock(impl_->worker.mutex());
  return impl_->counts;
}

bool ModelEngines::wait(std::chrono::nanoseconds longest) const {
  const auto start = std::chrono::steady_clock::now();
  Impl::Lock lock(impl_->worker.mutex());
  while (true) {
    const bool pending =
        std::any_of(impl_->places.begin(), impl_->places.end(), [](const auto& p) { return p->pending; });
    if (!pending || impl_->worker.ended()) return true;
    if (std::chrono::steady_clock::now() - start >= longest) return false;
    impl_->worker.wake();
    impl_->worker.wait(lock);
    lock.unlock();
    throw_if_cancelled();
    lock.lock();
  }
}

void end_background_builds() noexcept { Worker::of_process().end(); }

}  // namespace tenfold
