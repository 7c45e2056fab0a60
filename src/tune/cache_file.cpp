// The timing cache of a build: read once at the start, merged back at the end.
#include "tenfold/build.h"
#include "tune/timing_cache.h"

namespace tenfold::tune {

TimingCache open_cache(const BuildConfig& config) {
  return config.timing_cache.empty() ? TimingCache() : TimingCache::load(config.timing_cache, Log(config.log));
}
void close_cache(const TimingCache& cache, const BuildConfig& config) {
  if (!config.timing_cache.empty()) cache.save(config.timing_cache, Log(config.log));
}

}  // namespace tenfold::tune
