// The timing cache: what tactics took on problems, by machine. Text on disk, mergeable, shared by processes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"

namespace tenfold::tune {

// All that a measurement depends on. Ordered, so that files come out the same whatever the order of measuring.
struct TimingKey {
  std::string machine, problem, tactic, config;
  auto operator<=>(const TimingKey&) const = default;
};

// Never a reason to fail: a file that is missing, damaged or unwritable costs time, and a warning.
class TimingCache {
 public:
  // Reads the file once. A missing file is an empty cache; lines that make no sense are left out with one warning.
  static TimingCache load(const std::string& path, const Log& log = {});
  // Merges with what other processes have written meanwhile, under a lock, and replaces the file atomically: returns what it holds
  // then. This object stays as it is, and is returned if nothing could be saved: a build must not see measurements that arrive while it
  // runs.
  TimingCache save(const std::string& path, const Log& log = {}) const;

  std::optional<double> find(const TimingKey& key) const;
  // The least time of a key wins, here and in merge(): the order of inserting and merging does not matter.
  void insert(const TimingKey& key, double nanoseconds);
  void merge(const TimingCache& other);
  std::size_t size() const { return entries_.size(); }
  const std::map<TimingKey, double>& times() const { return entries_; }
  bool has_machine(std::string_view begins_with) const;
  bool operator==(const TimingCache&) const = default;

  std::string text() const;
  static TimingCache parse(std::string_view text, const std::string& source, const Log& log = {});

 private:
  std::map<TimingKey, double> entries_;
};

}  // namespace tenfold::tune
