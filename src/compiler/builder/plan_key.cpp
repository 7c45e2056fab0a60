// What a plan depends on, as a text: the key of the plan cache. And builds that look there first.
#include <filesystem>

#include "backends/backend.h"
#include "backends/device_traits.h"
#include "base/files/file.h"
#include "builder/builder.h"
#include "builder/fields.h"
#include "builder/options_text.h"
#include "builder/rebuild/load_options.h"
#include "runtime/plugins/plugins.h"
#include "runtime/shared/runtime.h"
#include "tenfold/fallback_chain.h"
#include "tenfold/plan_cache.h"
#include "tenfold/version.h"

namespace tenfold {
namespace {

// Files that weights lie in: what stands behind the word "location" where the format has such an entry. What looks alike and is no file of
// these folders does not count.
std::string external_files(std::span<const std::byte> model, const std::vector<std::filesystem::path>& folders, const PlanCache* cache) {
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
        const std::string path = (folder / name).string();
        found[name] = cache ? cache->file_hash(path) : builder::hash_of(MappedFile::read(path)->bytes());
        break;
      }
    }
  }
  std::string all;
  for (const auto& [name, hash] : found) all += cat("\nweights ", name, " ", hash);
  return all;
}

std::string tensor_text(const Tensor& tensor) {
  if (!tensor.defined() || tensor.dtype() == DType::string) return "-";
  return cat(name(tensor.dtype()), " ", text(tensor.shape()), " ",
             builder::hash_of({static_cast<const std::byte*>(tensor.raw()), static_cast<std::size_t>(tensor.bytes())}));
}

// Names are the caller's and may hold anything: with its length in front one cannot be taken for another line.
std::string named(const std::string& name) { return cat(name.size(), ":", name); }

// A line for each thing that a plan depends on.
class KeyText {
 public:
  std::string text;

  template <class Value>
  requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
  void add(const char* key, const Value& value) {
    if constexpr (std::is_enum_v<Value>)
      text += cat("\n", key, " ", static_cast<int>(value));
    else
      text += cat("\n", key, " ", value);
  }
  void add(const char* key, const std::string& value) {
    if (!value.empty()) text += cat("\n", key, " ", value);
  }
  template <class Value>
  void add(const char* key, const std::vector<Value>& list) {
    for (const Value& value : list) one(key, value);
  }
  template <class Value>
  void add(const char* key, const std::map<std::string, Value>& list) {
    for (const auto& [name, value] : list) one(cat(key, " ", named(name)), value);
  }
  void add(const char* key, const LayerTypes& types) {
    add(key, types.constraints);
    for (const LayerPrecision& one : types.precisions) text += cat("\nlayer ", named(one.layers), " ", name(one.type));
    for (const LayerOutputTypes& one : types.output_types) {
      text += "\nlayer output " + named(one.layers);
      for (const DType type : one.types) text += cat(" ", name(type));
    }
  }

 private:
  void one(const std::string& key, const std::string& value) { text += cat("\n", key, " ", named(value)); }
  void one(const std::string& key, const Tensor& value) { text += cat("\n", key, " ", tensor_text(value)); }
  void one(const std::string& key, const BindingFormat& value) {
    text += cat("\n", key, " ", value.dtype ? tenfold::name(*value.dtype) : "as it is", " ", static_cast<int>(value.order));
  }
  void one(const std::string& key, const ShapeRange& value) {
    text += cat("\n", key, " ", tenfold::text(value.min), "/", tenfold::text(value.opt), "/", tenfold::text(value.max));
  }
  template <class Value>
  void one(const std::string& key, const std::map<std::string, Value>& value) {  // a profile, an example
    text += "\n" + key;
    add(key.c_str(), value);
  }
};

// Fields with .no_key() that change a plan all the same: `device` and `external_data_dirs` show in the device's own line and in the files
// that are read, plug-ins have lines of their own, and choose_tactic and calibration are refused.
std::string options_text(const BuildConfig& config, const backends::DeviceInfo& on) {
  KeyText key;
  builder::each_field_in<&builder::FieldForms::in_key>([&](auto field) {
    if (builder::left_out(field, field.kForms.in_key, config)) return;
    const auto& value = field.of(config);
    const char* const name = field.name_in(field.kForms.in_key);
    if constexpr (std::is_same_v<decltype(field), builder::fields::threads>) {
      // A GPU's kernels do not know how many processors the host has.
      if (backends::traits_of(on).host_arithmetic)
        key.add(name, value > 0 ? value : runtime::threads_of(*runtime::runtime_of(config.runtime)));
    } else {
      key.add(name, value);
    }
  });
  return key.text;
}

std::string plugins_text(const Plugins* plugins) {
  std::string out;
  if (plugins)
    for (const std::string& line : plugins->impl().identity) out += "\nplug-in " + line;
  return out;
}

std::string key_of(std::span<const std::byte> model, std::vector<std::filesystem::path> folders, const BuildConfig& config,
                   const PlanCache* cache = nullptr) {
  require(!config.choose_tactic, ErrorKind::invalid_argument,
          "what choose_tactic() will answer is not known before a build: such builds have no key for a cache");
  require(!config.calibration, ErrorKind::invalid_argument,
          "the data of a calibration is not known before a build: such builds have no key for a cache");
  folders.insert(folders.end(), config.external_data_dirs.begin(), config.external_data_dirs.end());
  const backends::DeviceInfo device =
      backends::open_backend(config.device, config.cpu_features, runtime::runtime_of(config.runtime)->impl().shared)->info();
  return cat("tenfold ", version(), "\nmodel ", builder::hash_of(model), external_files(model, folders, cache), "\ndevice ",
             device.kind, " ", device.name, " ", device.features, " sm_", device.arch, " ", device.libraries, " ", device.l1_bytes, " ",
             device.l2_bytes, " ", device.l3_bytes, options_text(config, device), plugins_text(config.plugins.get()));
}

// The engine stored under this key, or what `build` makes.
template <class Build>
Engine built_once(const std::string& key, const BuildConfig& config, const PlanCache& cache, const std::string& name, bool* cached,
                  const Build& build) {
  if (cached) *cached = true;
  const auto make = [&] {
    if (cached) *cached = false;
    return build();
  };
  return cache.get(key, make, builder::load_options(config), name);
}

}  // namespace

std::string plan_key(const std::string& path, const BuildConfig& config, const PlanCache* cache) {
  const auto model = MappedFile::read(path);
  return key_of(model->bytes(), {std::filesystem::absolute(path).parent_path()}, config, cache);
}

std::string plan_key(std::span<const std::byte> onnx, const BuildConfig& config) { return key_of(onnx, {}, config); }

Engine build_file(const std::string& path, const BuildConfig& config, const PlanCache& cache, const std::string& name, bool* cached) {
  const std::string key = plan_key(path, config, &cache);
  return built_once(key, config, cache, name, cached, [&] {
    Engine engine = build_file(path, config);
    require(plan_key(path, config) == key, ErrorKind::io, "'", path,
            "', or a file of its weights, changed while a plan was made of it: build it again");
    return engine;
  });
}

Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, const PlanCache& cache, const std::string& name,
                   bool* cached) {
  return built_once(plan_key(onnx, config), config, cache, name, cached, [&] { return build_bytes(onnx, config); });
}

EngineCandidate model_candidate(const std::string& path, const BuildConfig& config, const PlanCache* cache) {
  return {path + " on " + config.device,
          [path, config, cache] { return cache ? build_file(path, config, *cache) : build_file(path, config); }};
}

}  // namespace tenfold
