// A folder of plans, found again by what they were made from: builds happen once for all processes of a machine.
//
// A plan's key is a text: of the model's bytes, all options that change the plan, the device and the library's version. It stands in
// the entry, among the plan's labels ("tenfold.key"), so that an entry's file may have any name: one that holds another key is no
// answer, and is replaced. A key that comes from elsewhere (a server's own) works as well. Thread safe; processes share a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "tenfold/engine.h"
#include "tenfold/export.h"

namespace tenfold {

struct BuildConfig;

struct PlanCacheOptions {
  std::string folder;                             // empty: $XDG_CACHE_HOME/tenfold/plans, else ~/.cache/tenfold/plans; made if absent
  std::int64_t most_bytes = std::int64_t{16} << 30;   // of all plans; those used longest ago are removed. Below 0: no limit
  // How an entry is loaded; null: Engine::load. With load_compatible (tenfold/build.h) an entry that was built to be compatible serves
  // other versions and devices, too, if it is asked for by the same key. (plan_key() differs for these: build_file() builds anew, at the
  // level wanted, rather than make do with level 0.)
  std::function<Engine(const std::string& path, const LoadOptions& options)> load = {};
};

class TENFOLD_API PlanCache {
 public:
  explicit PlanCache(PlanCacheOptions options = {});   // throws io
  const std::string& folder() const { return options_.folder; }

  // The file of an entry: `name` in the folder (a plain file name), or one made of the key.
  std::string path(const std::string& key, const std::string& name = "") const;
  // The plan stored under this key; nothing if there is none, or none that this library and machine take: `why` then says so.
  std::optional<Engine> find(const std::string& key, const LoadOptions& load = {}, const std::string& name = "",
                             std::string* why = nullptr) const;
  // find(), or what `make` builds, stored. Of several processes that miss at once one builds and the others wait for it. A plan that
  // cannot be stored is returned all the same, and the log of `load` is told.
  Engine get(const std::string& key, const std::function<Engine()>& make, const LoadOptions& load = {},
             const std::string& name = "") const;
  void store(const std::string& key, const Engine& engine, const std::string& name = "") const;   // throws io
  int clear() const;                                   // removes all entries; how many

 private:
  void trim(const std::string& keep) const;
  PlanCacheOptions options_;
};

// The key of a model for a configuration. Weights in files of their own count, too. What is a callback, a log, a progress bar or a
// timing cache does not. In the builder library.
TENFOLD_API std::string plan_key(const std::string& onnx_path, const BuildConfig& config);
// The same of a model in memory: the key of a file with these bytes, if its weights lie in it. Weights elsewhere are looked for in
// config.external_data_dirs only.
TENFOLD_API std::string plan_key(std::span<const std::byte> onnx, const BuildConfig& config);
// build_file(), unless the cache has the plan. `cached`: whether it had.
TENFOLD_API Engine build_file(const std::string& onnx_path, const BuildConfig& config, const PlanCache& cache,
                              const std::string& name = "", bool* cached = nullptr);
// build_bytes() in the same way: a model in memory and a file of the same bytes share a plan. The bytes are read until this returns.
TENFOLD_API Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, const PlanCache& cache,
                               const std::string& name = "", bool* cached = nullptr);

}  // namespace tenfold
