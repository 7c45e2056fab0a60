// What the check of f16 found before, in a file beside the timing cache. Shared by processes; never a reason to fail; safe to delete.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/files/hash.h"
#include "base/log.h"
#include "builder/builder.h"

namespace tenfold::builder {

class OverflowCache {
 public:
  explicit OverflowCache(const std::string& timing_cache) : path_(timing_cache.empty() ? "" : timing_cache + ".ranges") {}
  bool used() const { return !path_.empty(); }
  std::optional<std::map<std::string, double>> find(const Hash128& key) const;
  void add(const Hash128& key, const std::map<std::string, double>& found, const Log& log) const;

 private:
  std::string path_;
};

// Of everything that the answer depends on.
Hash128 overflow_key(const ir::Graph& source, const std::vector<plan::Range>& ranges, const BuildConfig& config);

}  // namespace tenfold::builder
