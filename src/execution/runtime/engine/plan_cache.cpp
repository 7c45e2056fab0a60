// Plans in a folder, by key: found, stored, and removed when they take too much room.
#include "tenfold/plan_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/hash.h"
#include "base/files/trust.h"
#include "base/log.h"
#include "plan/read.h"
#include "plan/write.h"
#include "runtime/engine/known_hashes.h"
#include "runtime/engine/opened.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;
constexpr const char* kKey = "tenfold.key";
constexpr const char* kEndings[] = {".plan", ".engine"};   // the first where a name has neither
constexpr const char* kLock = ".lock";

std::string usual_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && cache[0] == '/') return std::string(cache) + "/tenfold/plans";
  const char* home = std::getenv("HOME");
  require(home && home[0] == '/', ErrorKind::io, "no folder for the plan cache is given, and neither XDG_CACHE_HOME nor HOME names one");
  return std::string(home) + "/.cache/tenfold/plans";
}

bool has_ending(const std::string& name) {
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](const char* ending) { return name.ends_with(ending); });
}

// The user may keep plans of his own in the same folder.
std::string key_of(const fs::path& path) {
  try {
    const auto labels = plan::read_labels(path.string());
    const auto held = labels.find(kKey);
    return held == labels.end() ? "" : held->second;
  } catch (const Error&) {
    return "";
  }
}

// A damaged one has lost its key, but not the name that path() gives.
bool is_entry(const fs::path& path, const std::string& key) {
  const std::string stem = path.stem().string();
  return (stem.size() == 16 && stem.find_first_not_of("0123456789abcdef") == std::string::npos) || !key.empty();
}

std::int64_t milliseconds_of(fs::file_time_type time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(fs::file_time_type::clock::to_sys(time).time_since_epoch()).count();
}

// Of all files that have a plan's name, entries or not.
std::int64_t bytes_of_plans(const std::string& folder) {
  std::int64_t sum = 0;
  std::error_code none;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, none)) {
    std::error_code gone;
    if (!has_ending(file.path().filename().string())) continue;
    const auto bytes = file.file_size(gone);
    if (!gone) sum += static_cast<std::int64_t>(bytes);
  }
  return sum;
}

// Its plan, if the key is right: the one that was loaded, for another process may put another file there at any time.
bool holds(const Engine& engine, const std::string& key) {
  const auto held = engine.labels().find(kKey);
  return held != engine.labels().end() && held->second == key;
}

}  // namespace

PlanCache::PlanCache(PlanCacheOptions options) : options_(std::move(options)) {
  const bool usual = options_.folder.empty();
  if (usual) options_.folder = usual_folder();
  std::error_code failed, none;
  const bool made = fs::create_directories(options_.folder, failed);
  if (usual && made) fs::permissions(options_.folder, fs::perms::owner_all, none);   // the user's own
  require(!failed && fs::is_directory(options_.folder, failed), ErrorKind::io, "cannot make the folder '", options_.folder,
          "' for the plan cache: ", failed ? failed.message() : "something else has that name");
}

std::string PlanCache::path(const std::string& key, const std::string& name) const {
  if (!name.empty()) {
    require(name.find('/') == std::string::npos && name != "." && name != "..", ErrorKind::invalid_argument, "'", name,
            "' is no plain file name for an entry of the plan cache");
    return options_.folder + "/" + name + (has_ending(name) ? "" : kEndings[0]);
  }
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash64(key)));
  return options_.folder + "/" + text + kEndings[0];
}

std::optional<Engine> PlanCache::find(const std::string& key, const LoadOptions& load, const std::string& name, std::string* why) const {
  const std::string file = path(key, name);
  const auto miss = [&](const std::string& reason) {
    if (why) *why = reason;
    return std::nullopt;
  };
  std::error_code none;
  if (!fs::exists(file, none)) return miss("there is no plan '" + file + "'");
  if (!fs::is_regular_file(file, none)) return miss("'" + file + "' is no regular file");
  try {
    if (const std::string held = key_of(file); !held.empty() && held != key) return miss("'" + file + "' was made from something else");
    LoadOptions careful = load;
    const std::string others = why_others_may_write(file);
    careful.device_code = load.device_code && others.empty();   // a plan for a GPU has machine code, which others may have put there
    Engine engine = options_.load ? options_.load(file, careful) : Engine::load(file, careful);
    if (engine.info().on_gpu && load.device_code && !careful.device_code)
      Log(load.log)(Severity::warning, "machine code of the plan '", file, "' is not used, for ", others,
                    ": its kernels were compiled again");
    if (!holds(engine, key)) return miss("'" + file + "' was made from something else");
    fs::last_write_time(file, fs::file_time_type::clock::now(), none);  // used now; best effort
    return engine;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::invalid_argument || error.kind() == ErrorKind::device) throw;  // the options' fault, not the plan's
    return miss(error.what());
  }
}

void PlanCache::store(const std::string& key, const Engine& engine, const std::string& name) const {
  const std::string file = path(key, name);
  std::error_code none;
  require(!fs::exists(file, none) || fs::is_regular_file(file, none), ErrorKind::io, "cannot store '", file,
          "': something that is no regular file has that name");
  plan::Plan copy = runtime::state_of(engine)->plan;  // shares the weights
  copy.labels[kKey] = key;
  plan::save(copy, file);
  if (options_.max_bytes < 0) return;
  try {
    remove_oldest(options_.max_bytes, file);
  } catch (const Error&) {   // another process removes, or is stopped while it does: who stores next looks again
  }
}

Engine PlanCache::get(const std::string& key, const std::function<Engine()>& make, const LoadOptions& load, const std::string& name) const {
  if (std::optional<Engine> known = find(key, load, name)) return *known;
  const auto warn = [&](const Error& error) { Log(load.log)(Severity::warning, "the plan is not kept in the cache: ", error.what()); };
  std::optional<FileLock> lock;  // of this entry: others wait for the plan
  try {
    lock.emplace(path(key, name) + kLock, Log(load.log));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled) throw;   // the wait for another process was
    warn(error);
    return make();
  }
  std::string why;
  if (std::optional<Engine> known = find(key, load, name, &why)) return *known;
  std::error_code none;
  if (fs::exists(path(key, name), none)) Log(load.log)(Severity::warning, "the plan is built anew: ", why);
  Engine engine = make();
  try {
    store(key, engine, name);
  } catch (const Error& error) {
    warn(error);
    return engine;
  }
  if (!options_.load && load.weights != WeightsMode::map) return engine;
  return find(key, load, name).value_or(engine);   // the first process, too, has what the others load
}

std::vector<PlanCacheEntry> PlanCache::entries() const {
  std::vector<PlanCacheEntry> list;
  std::error_code none;
  for (const fs::directory_entry& file : fs::directory_iterator(options_.folder, none)) {
    std::error_code gone;  // by another process
    if (!has_ending(file.path().filename().string()) || !file.is_regular_file(gone)) continue;
    const std::string key = key_of(file.path());
    if (!is_entry(file.path(), key)) continue;
    const auto used = file.last_write_time(gone);
    const auto bytes = static_cast<std::int64_t>(file.file_size(gone));
    if (!gone) list.push_back({file.path().string(), key, bytes, milliseconds_of(used)});
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return std::tie(a.used, a.path) < std::tie(b.used, b.path); });
  return list;
}

// Loaded plans stay usable when their files go.
int PlanCache::remove_oldest(std::int64_t max_bytes, const std::string& keep) const {
  if (bytes_of_plans(options_.folder) <= max_bytes) return 0;   // no plan is opened to know that
  const FileLock lock(options_.folder + "/trim" + kLock);
  const std::vector<PlanCacheEntry> list = entries();
  std::int64_t sum = 0;
  for (const PlanCacheEntry& e : list) sum += e.bytes;
  int removed = 0;
  for (const PlanCacheEntry& e : list) {
    if (sum <= max_bytes) break;
    std::error_code none;
    if (e.path == keep || !fs::remove(e.path, none)) continue;
    sum -= e.bytes, ++removed;
  }
  return removed;
}

int PlanCache::trim(std::int64_t max_bytes) const {
  require(max_bytes >= 0, ErrorKind::invalid_argument, "a plan cache cannot take ", max_bytes, " bytes");
  return remove_oldest(max_bytes, "");
}

int PlanCache::clear() const {
  int removed = 0;
  for (const PlanCacheEntry& e : entries()) {
    std::error_code none;
    removed += fs::remove(e.path, none) ? 1 : 0;
  }
  std::error_code none;
  std::vector<fs::path> hashes;
  for (const fs::directory_entry& file : fs::directory_iterator(options_.folder, none))
    if (file.path().extension() == runtime::kHashEnding && is_entry(file.path(), "")) hashes.push_back(file.path());
  for (const fs::path& hash : hashes) fs::remove(hash, none);
  return removed;
}

std::string PlanCache::file_hash(const std::string& path) const { return runtime::hash_of_file(path, options_.folder); }

}  // namespace tenfold
