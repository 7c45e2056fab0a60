// What a plan depends on, as a text: the key of the plan cache. And builds that look there first.
#include <filesystem>

#include "backends/backend.h"
#include "base/file.h"
#include "builder/builder.h"
#include "builder/options_text.h"
#include "runtime/runtime.h"
#include "runtime/plugins.h"
#include "tenfold/ladder.h"
#include "tenfold/plan_cache.h"
#include "tenfold/version.h"

namespace tenfold {
namespace {

// Files that weights lie in: what stands behind the word "location" where the format has such an entry. What looks alike and is no file of
// these folders does not count.
std::string external_files(std::span<const std::byte> model, const std::vector<std::filesystem::path>& folders) {
  constexpr std::string_view kEntry{"\x0a\x08location\x12", 11};
  const std::string_view text(reinterpret_cast<const char*>(model.data()), model.size());
  std::map<std::string, std::string> found;
  for (std::size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry, at + 1)) {
    std::size_t p = at + kEntry.size(), length = 0;
    for (int shift = 0; p < text.size() && shift < 28; shift += 7) {  // a length of the wire format
      const auto byte = static_cast<unsigned char>(text[p++]);
      length |= static_cast<std::size_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) break;
    }
    if (length == 0 || length > 4096 || length > text.size() - p) continue;
    const std::string name(text.substr(p, length));
    if (found.count(name)) continue;
    for (const std::filesystem::path& folder : folders) {
      std::error_code none;
      if (name.find('\0') == std::string::npos && std::filesystem::is_regular_file(folder / name, none)) {
        found[name] = builder::hash_of(MappedFile::open((folder / name).string())->bytes());
        break;
      }
    }
  }
  std::string all;
  for (const auto& [name, hash] : found) all += cat("\nweights ", name, " ", hash);
  return all;
}

std::string shapes_text(const std::vector<OptimizationProfile>& profiles) {
  std::string out;
  for (const OptimizationProfile& profile : profiles) {
    out += "\nprofile";
    for (const auto& [name, range] : profile) out += cat(" ", name, "=", text(range.min), "/", text(range.opt), "/", text(range.max));
  }
  return out;
}

std::string plugins_text(const Plugins* plugins) {
  std::string out;
  if (plugins)
    for (const ir::OpDef* def : runtime::registry_with(plugins).all())
      if (ir::Registry::builtin().find(def->name) == nullptr) out += "\nplug-in " + def->name;
  return out;
}

}  // namespace

std::string plan_key(const std::string& path, const BuildConfig& config) {
  require(!config.choose_tactic, ErrorKind::invalid_argument,
          "what choose_tactic() will answer is not known before a build: such builds have no key for a cache");
  const auto model = MappedFile::open(path);
  std::vector<std::filesystem::path> folders{std::filesystem::absolute(path).parent_path()};
  folders.insert(folders.end(), config.external_data_dirs.begin(), config.external_data_dirs.end());
  const backends::DeviceInfo device =
      backends::open_backend(config.device, config.cpu_features, runtime::runtime_of(config.runtime)->impl().shared)->info();
  return cat("tenfold ", version(), "\nmodel ", builder::hash_of(model->bytes()),
             external_files(model->bytes(), folders), "\ndevice ", device.kind, " ", device.name, " ", device.features, " sm_", device.arch,
             " ", device.libraries, " ", device.l1_bytes, " ", device.l2_bytes, " ", device.l3_bytes, shapes_text(config.profiles),
             "\noptions ", builder::options_text(config), plugins_text(config.plugins.get()));
}

Engine build_file(const std::string& path, const BuildConfig& config, const PlanCache& cache, const std::string& name, bool* cached) {
  if (cached) *cached = true;
  const auto make = [&] {
    if (cached) *cached = false;
    return build_file(path, config);
  };
  const LoadOptions load{.cpu_features = config.cpu_features,
                         .device = config.device,
                         .threads = config.threads,
                         .pin_threads = config.pin_threads,
                         .plugins = config.plugins,
                         .log = config.log};
  return cache.get(plan_key(path, config), make, load, name);
}

Rung model_rung(const std::string& path, const BuildConfig& config, const PlanCache* cache) {
  return {path + " on " + config.device,
          [path, config, cache] { return cache ? build_file(path, config, *cache) : build_file(path, config); }};
}

}  // namespace tenfold
