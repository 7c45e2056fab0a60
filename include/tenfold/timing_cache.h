// What tactics took on problems, by machine, as an object: BuildConfig::timings. Builds that share one find what the others measured.
//
// Thread safe. A build takes what is there when it begins, and adds what it measured when it ends; the least time of a key wins. A file of
// it is what BuildConfig::timing_cache names.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

class TENFOLD_API TimingCache {
 public:
  TimingCache();
  ~TimingCache();
  // Throw invalid_argument for what is no timing cache of this version, io for a file that cannot be read.
  static std::shared_ptr<TimingCache> load(const std::string& path);
  static std::shared_ptr<TimingCache> parse(std::string_view text);

  // Merges with the file, under a lock, and replaces it in one move; this object then holds the file's times, too. Throws io.
  void save(const std::string& path);
  void merge(const TimingCache& other);
  std::string text() const;            // what a file holds: sorted lines
  std::size_t size() const;            // times

  // What builds ask for: one key for each problem on each machine, as "0x" and 32 hexadecimal digits; sorted.
  std::vector<std::string> keys() const;
  struct Fastest {
    std::string tactic, config;
    double nanoseconds = 0;
  };
  std::optional<Fastest> fastest(std::string_view key) const;   // of a key's tactics; nothing: none was timed

  struct TENFOLD_NOT_EXPORTED Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
