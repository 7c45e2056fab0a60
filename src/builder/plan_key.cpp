// What a plan depends on, as a text: the key of the plan cache. And builds that look there first.
#include <filesystem>

#include "backends/backend.h"
#include "base/cpu_count.h"
#include "base/file.h"
#include "base/hash.h"
#include "builder/builder.h"
#include "runtime/plugins.h"
#include "tenfold/ladder.h"
#include "tenfold/plan_cache.h"
#include "tenfold/version.h"

namespace tenfold {
namespace {

std::string hash_text(std::span<const std::byte> bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash64(bytes)),
                static_cast<unsigned long long>(hash64(bytes, 1)));
  return text;
}

std::string file_text(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path.string());
  return cat(file->bytes().size(), ":", hash_text(file->bytes()));
}

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
        found[name] = file_text(folder / name);
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

std::string options_text(const BuildConfig& c) {
  std::string out = cat("\noptions fp16=", c.fp16, " bf16=", c.bf16, " int8=", c.int8, " fp8=", c.fp8, " tf32=", c.tf32,
                        " winograd=", c.winograd, " strassen=", c.strassen, " fast_exp=", c.fast_exp, " check_overflow=", c.check_overflow,
                        " pack=", static_cast<int>(c.pack_tokens), " level=", c.optimization_level, " max_tactics=", c.max_tactics,
                        " sources=", c.tactic_sources, " workspace=", c.workspace_bytes, " features=", c.cpu_features,
                        " portable=", c.keep_portable_graph, " refittable=", c.refittable, " random=", c.random_choices,
                        " threads=", c.threads > 0 ? c.threads : default_threads());
  for (const std::string& pass : c.disabled_passes) out += "\nwithout " + pass;
  for (const auto& [problem, tactic] : c.forced_tactics) out += cat("\nforced ", problem, " -> ", tactic);
  for (const auto& set : c.typical_inputs)
    for (const auto& [name, tensor] : set)
      if (tensor.dtype() != DType::string)
        out += cat("\ntypical ", name, " ", ::tenfold::name(tensor.dtype()), " ", text(tensor.shape()), " ",
                   hash_text({static_cast<const std::byte*>(tensor.raw()), static_cast<std::size_t>(tensor.bytes())}));
  for (const auto& [key, value] : c.labels) out += cat("\nnote ", key, "=", value);
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
  const backends::DeviceInfo device = backends::open_backend(config.device, config.cpu_features)->info();
  return cat("tenfold ", version(), "\nmodel ", model->bytes().size(), ":", hash_text(model->bytes()),
             external_files(model->bytes(), folders), "\ndevice ", device.kind, " ", device.name, " ", device.features, " sm_", device.arch,
             " ", device.libraries, " ", device.l1_bytes, " ", device.l2_bytes, " ", device.l3_bytes, shapes_text(config.profiles),
             options_text(config), plugins_text(config.plugins.get()));
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
