// What the check of f16 found before, in a file beside the timing cache.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "builder/builder.h"
#include "builder/record_file.h"

namespace tenfold::builder {

class OverflowCache {
 public:
  explicit OverflowCache(const std::string& timing_cache) : file_(timing_cache, ".ranges", "tenfold ranges 1") {}
  bool used() const { return file_.used(); }
  std::optional<std::map<std::string, double>> find(const Hash128& key) const;
  void add(const Hash128& key, const std::map<std::string, double>& found, const Log& log) const;

 private:
  RecordFile file_;
};

std::string line_of(const Tensor& tensor);   // type, shape and a hash of the content, as part of a key

// Of everything that the answer depends on.
Hash128 overflow_key(const ir::Graph& source, const std::vector<plan::Range>& ranges, const BuildConfig& config);

}  // namespace tenfold::builder
