// Engines of one device, and of what follows where it fails: of a plan one for each, of a model file those that ModelEngines finds or
// builds.
#include "served_model/impl.h"
#include "tenfold/device_error.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::served_model {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFirstPause{10}, kLongestPause{300};   // before a device that failed is tried again

std::vector<EngineCandidate> plan_candidates(const std::string& path, const ServedModelOptions& options,
                                             const std::vector<std::string>& devices) {
  LoadOptions load;
  load.threads = options.build.threads, load.plugins = options.build.plugins, load.log = options.build.log;
  load.runtime = options.build.runtime, load.cpu_features = options.build.cpu_features;
  std::vector<EngineCandidate> candidates;
  for (const std::string& device : devices) candidates.push_back(compatible_candidate(path, device, load));
  return candidates;
}

}  // namespace

bool is_model_file(const std::string& path) { return path.ends_with(".onnx"); }

DeviceEngines::DeviceEngines(const std::string& path, const ServedModelOptions& options, const std::string& device, bool runs_elsewhere)
    : log_(options.build.log) {
  ways_ = {{"engine", device}};
  if (!is_model_file(path)) {
    if (runs_elsewhere) ways_.push_back({"cpu", "cpu"});
    std::vector<std::string> devices;
    for (const Way& way : ways_) devices.push_back(way.device);
    plans_.emplace(plan_candidates(path, options, devices));
    plans_->engine();
    way_ = plans_->candidate();
    return;
  }
  ModelEnginesOptions engines;
  engines.build = options.build, engines.build.device = device;
  engines.tune = options.tune.value_or(Tune::now), engines.cache = options.cache, engines.isolate_builds = options.isolate_builds;
  if (runs_elsewhere) {
    ways_.push_back({"direct", device}), ways_.push_back({"cpu", "cpu"});
    engines.fallback = {{device, Tune::never}, {"cpu", Tune::never}};
  }
  engines_ = std::make_unique<ModelEngines>(path, std::move(engines));
  // With profiles there is one engine for all requests, and loading the model is the time to build it.
  if (engines_->open_inputs().empty()) way_ = engines_->engine_for(std::span<const Shape>()).way;
}

DeviceEngines::~DeviceEngines() {
  ends_ = true;
  if (preparing_.valid()) preparing_.wait();
}

void DeviceEngines::prepare_fallback() {
  if (!engines_ || ways_.size() == 1 || way_ + 1 == static_cast<int>(ways_.size())) return;
  preparing_ = std::async(std::launch::async, [this] {
    const Interrupts interrupts([this] { return !ends_; });
    try {
      engines_->prepare(static_cast<int>(ways_.size()) - 1);
    } catch (const std::exception& error) {
      if (log_ && !ends_) log_(Severity::warning, std::string("there will be no engine on the CPU if the GPU fails: ") + error.what());
    }
  });
}

void DeviceEngines::restart_if_due() {
  if (way_ == 0) return;
  const std::lock_guard lock(mutex_);
  // Where it was not there at the start, nobody waits for the build of an engine for it.
  if (pause_ == std::chrono::seconds(0) || Clock::now() - failed_at_ < pause_ || !device_health(ways_[0].device)) return;
  failed_at_ = Clock::now();
  if (plans_) plans_->restart();
  if (engines_) engines_->restart();
}

ServedEngine DeviceEngines::engine_of_plan() {
  const std::lock_guard lock(mutex_);
  const Engine& engine = plans_->engine();
  return {engine, static_cast<std::uint64_t>(plans_->candidate()) + 1, true, true, plans_->candidate()};
}

ServedEngine DeviceEngines::engine_for(std::span<const Shape> inputs) {
  restart_if_due();
  const auto given = [&] {
    if (plans_) return engine_of_plan();
    std::vector<Shape> open;   // none where one engine serves all
    for (const int input : engines_->open_inputs()) open.push_back(inputs[static_cast<std::size_t>(input)]);
    return engines_->engine_for(open);
  };
  ServedEngine served = given();
  way_ = served.way;
  return served;
}

bool DeviceEngines::report_failure(const ServedEngine& engine, const Error& error) {
  if (engine.way + 1 == static_cast<int>(ways_.size())) return false;
  const std::lock_guard lock(mutex_);
  const bool lost = !device_health(device_of(engine));
  const bool first = engine.way == 0 && Clock::now() - failed_at_ > pause_ / 2;   // of several instances that find the same
  reason_ = lost ? "device_lost" : error.kind() == ErrorKind::out_of_memory ? "out_of_memory" : "device_error";
  if (first) pause_ = pause_ == std::chrono::seconds(0) ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  failed_at_ = Clock::now();
  way_ = engine.way + 1;
  if (engines_) return engines_->report_failure(engine, error.kind(), error.what());
  if (plans_->candidate() > engine.way) return true;
  return plans_->report_failure(error.kind(), error.what());
}

std::string DeviceEngines::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

}  // namespace tenfold::served_model
