// A timer that looks into the timing cache first and writes what it measures there.
#include "backends/device_traits.h"
#include "base/check.h"
#include "base/log.h"
#include "base/threads/cpu_count.h"
#include "tune/timing/second_round.h"
#include "tune/timing/timer.h"
#include "tune/tuner.h"

namespace tenfold::tune {
namespace {

class CachedTimer final : public Timer {
 public:
  CachedTimer(Timer& timer, const backends::DeviceInfo& device, const TuneOptions& options, bool cold_weights,
              std::string_view round)
      : timer_(timer), options_(options), cold_weights_(cold_weights) {
    machine_ = timing_machine(device, *options.config);
    if (options.report && options.cache->size() > 0 && !options.cache->has_machine(machine_))
      Log(options.config->log)(Severity::info, "of the ", options.cache->size(), " times in the timing cache none is of this machine (",
                               machine_, ")");
    if (cold_weights) machine_ += "; cold weights";   // other times: one cache serves small and large models
    if (!round.empty()) machine_ += cat("; ", round);
  }
  double time(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config, double best) override {
    const TimingKey key{machine_, problem.line(), cat(tactic.name, " v", tactic.version), config_text(config)};
    if (options_.used_timings) options_.used_timings->insert(key);
    if (std::optional<double> known = options_.cache->find(key)) {
      if (options_.report) ++options_.report->cache_hits;
      return *known;
    }
    require(!options_.config->error_on_cache_miss, ErrorKind::invalid_argument, "the timing cache has no entry for ", key.problem, " with ",
            key.tactic);
    const double ns = timer_.time(tactic, problem, config, best);
    if (options_.report) ++options_.report->timed;
    options_.cache->insert(key, ns);
    if (options_.second_round && ns < kCannotRun) options_.second_round->note(key, tactic, problem, config, ns);
    return ns;
  }

  bool cold_weights() const override { return cold_weights_; }

 private:
  Timer& timer_;
  const TuneOptions& options_;
  bool cold_weights_;
  std::string machine_;
};

}  // namespace

std::string timing_machine(const backends::DeviceInfo& device, const BuildConfig& config) {
  const bool host = backends::traits_of(device).host_arithmetic;   // kernels of other devices do not know of the host's processors
  std::string machine = device.name;
  if (host)   // virtual machines may hide the model, but not what the caches hold
    machine += cat("; caches of ", device.l1_bytes >> 10, ", ", device.l2_bytes >> 10, ", ", device.l3_bytes >> 10, " KiB");
  machine += cat("; ", backends::feature_text(device.features));
  if (host) machine += cat("; ", config.threads > 0 ? config.threads : default_threads(), " threads");
  // The least time of a key is kept, and of few launches it may be far off.
  if (config.timing_repetitions > 0) machine += cat("; ", config.timing_repetitions, " launches");
  return machine;
}

std::unique_ptr<Timer> cached_timer(Timer& timer, const backends::DeviceInfo& device, const TuneOptions& options, bool cold_weights,
                                    std::string_view round) {
  return std::make_unique<CachedTimer>(timer, device, options, cold_weights, round);
}

}  // namespace tenfold::tune
