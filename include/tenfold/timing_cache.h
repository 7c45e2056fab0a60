// TimingCache: the times that tactics took on problems, by machine, as an object (BuildConfig::timings). Builds that
// share one find what the others measured.
//
// Thread safe. A build takes the times that are there when it begins, and adds those that it measured when it ends. If
// a key has several times, the least wins. BuildConfig::timing_cache names a file of the same content.
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
  // Throw invalid_argument for a text that is no timing cache of this version, and io for a file that cannot be read.
  static std::shared_ptr<TimingCache> load(const std::string& path);
  static std::shared_ptr<TimingCache> parse(std::string_view text);

  // Merges with the file, under a lock, and replaces the file in one move. This object then holds the file's times,
  // too. Throws io.
  void save(const std::string& path);
  void merge(const TimingCache& other);
  std::string text() const;            // the content of a file: sorted lines
  std::size_t size() const;            // how many times

  // The keys, sorted. Each problem on each machine has one: "0x" and 32 hexadecimal digits.
  std::vector<std::string> keys() const;
  struct Fastest {
    std::string tactic, config;
    double nanoseconds = 0;
  };
  std::optional<Fastest> fastest(std::string_view key) const;   // the fastest tactic of a key; nothing: none was timed

  struct TENFOLD_NOT_EXPORTED Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
