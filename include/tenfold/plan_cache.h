// A folder of plans, which are found again by what they were made from. So the processes of a machine build each plan
// once.
//
// The key of a plan is a text made of the model's bytes, all options that change the plan, the device and the version
// of the library. The plan holds it among its labels ("tenfold.key"), so an entry's file may have any name. A file that
// holds another key is no answer, and is replaced. A key of the caller's own works as well. Thread safe. Processes may
// share a folder, and names in it: what find() and get() return holds the key that was asked for. So may users who trust
// each other: a plan is checked before it runs, but a plan for a GPU carries machine code. That of a file that another
// user but root owns, or that everybody may write, is not used: the kernels are compiled again, and the log says so. The
// usual folder is made for this user alone.
//
// The key of a plan for a CPU holds the number of threads (BuildConfig::threads, else the processors that affinity mask
// and cgroup quota allow): its kernels were timed with them. A container with another quota builds its own plan, unless
// BuildConfig::threads is set. The key of a plan for a GPU does not depend on the host's processors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenfold/engine.h"
#include "tenfold/export.h"

namespace tenfold {

struct BuildConfig;

struct PlanCacheOptions {
  // Made if absent. Empty: $XDG_CACHE_HOME/tenfold/plans, else ~/.cache/tenfold/plans.
  std::string folder;
  // The most bytes that all plans take together. Beyond that, the plans used longest ago are removed. Below 0: no
  // limit.
  std::int64_t max_bytes = std::int64_t{16} << 30;
  // Loads an entry; null: Engine::load. With load_compatible (tenfold/build.h), an entry that was built to be
  // compatible serves other versions and devices, too, if they ask for it by the same key. (plan_key() gives them
  // another key, so that build_file() builds anew at the level wanted instead of level 0.)
  std::function<Engine(const std::string& path, const LoadOptions& options)> load = {};
};

struct PlanCacheEntry {
  std::string path, key;
  std::int64_t bytes = 0;              // of the file
  std::int64_t used = 0;               // when it was last stored or found, in milliseconds since 1970
};

class TENFOLD_API PlanCache {
 public:
  explicit PlanCache(PlanCacheOptions options = {});   // throws io if the folder cannot be made
  const std::string& folder() const { return options_.folder; }

  // The path of an entry's file: `name` (a plain file name) in the folder, or a name made of the key. A name that ends
  // neither in .plan nor in .engine gets .plan.
  std::string path(const std::string& key, const std::string& name = "") const;
  // The plan stored under this key. Nothing if there is none, or if this library or machine refuses it; `why` then says
  // so.
  std::optional<Engine> find(const std::string& key, const LoadOptions& load = {}, const std::string& name = "",
                             std::string* why = nullptr) const;
  // The plan that find() finds, or else the one that `make` builds, which is then stored. If several processes miss at
  // once, one builds and the others wait for it; the log of `load` says for which. If that one is stopped, or is not
  // visible from here, `make` is called after 10 s all the same. A plan that cannot be stored is returned, too. The log
  // tells of it, and why a file that is there was no answer.
  Engine get(const std::string& key, const std::function<Engine()>& make, const LoadOptions& load = {},
             const std::string& name = "") const;
  void store(const std::string& key, const Engine& engine, const std::string& name = "") const;   // throws io
  // All entries, the one used longest ago first. Plans that a user keeps in the same folder are none.
  std::vector<PlanCacheEntry> entries() const;
  // Removes those used longest ago until the others take at most `max_bytes`, and returns how many. Engines that were
  // loaded from them stay as they are.
  int trim(std::int64_t max_bytes) const;
  int clear() const;                                   // removes all entries and returns how many
  // The size of a file and a hash of its bytes ("12:0123...ef"), as keys have them. Files of 64 MiB and more are read
  // once: the folder keeps the hash for as long as the file's inode, size and times stay. Throws io.
  std::string file_hash(const std::string& path) const;

 private:
  int remove_oldest(std::int64_t max_bytes, const std::string& keep) const;
  PlanCacheOptions options_;
};

// The key of a model for a configuration. Weights in files of their own count; with a cache, their hashes are
// file_hash()'s. Callbacks, the log, progress and timing caches do not count. It is in the builder library.
TENFOLD_API std::string plan_key(const std::string& onnx_path, const BuildConfig& config, const PlanCache* cache = nullptr);
// The same for a model in memory. A file with these bytes has the same key, if the weights lie in it. Weights elsewhere
// are looked for in config.external_data_dirs only.
TENFOLD_API std::string plan_key(std::span<const std::byte> onnx, const BuildConfig& config);
// Takes the plan from the cache, or calls build_file() and stores it. `cached` tells whether the cache had it.
TENFOLD_API Engine build_file(const std::string& onnx_path, const BuildConfig& config, const PlanCache& cache,
                              const std::string& name = "", bool* cached = nullptr);
// The same with build_bytes(). A model in memory and a file of the same bytes share a plan. The bytes are read until
// this returns.
TENFOLD_API Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, const PlanCache& cache,
                               const std::string& name = "", bool* cached = nullptr);

}  // namespace tenfold
