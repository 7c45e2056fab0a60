// The timing cache: what tactics took on problems, by machine. Text on disk, mergeable, shared by processes.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace tenfold { struct BuildConfig; }
namespace tenfold::tune {

// All that a measurement depends on. Ordered, so that files come out the same whatever the order of measuring.
struct TimingKey {
  std::string machine, problem, tactic, config;
  auto operator<=>(const TimingKey&) const = default;
};

class TimingCache {
 public:
  std::optional<double> find(const TimingKey& key) const {
    auto it = entries_.find(key);
    return it == entries_.end() ? std::nullopt : std::optional<double>(it->second);
  }
  void insert(const TimingKey& key, double nanoseconds) { entries_[key] = nanoseconds; }

 private:
  std::map<TimingKey, double> entries_;
};

// The cache a build starts from, and its merge back into the file.
TimingCache open_cache(const BuildConfig& config);
void close_cache(const TimingCache& cache, const BuildConfig& config);

}  // namespace tenfold::tune
