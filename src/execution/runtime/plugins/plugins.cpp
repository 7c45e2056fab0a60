// Sets of plug-ins: operators added one by one, or all that a library gives.
#include "runtime/plugins/plugins.h"

#include <dlfcn.h>

#include <filesystem>

#include "backends/backend.h"
#include "backends/device_traits.h"
#include "base/files/file.h"
#include "base/files/hash.h"
#include "runtime/plugins/operator.h"
#include "runtime/plugins/views.h"

namespace tenfold {
namespace {

using runtime::PluginTable;

// The library, open as long as the plug-ins that it gave are used.
std::shared_ptr<const void> open_library(const std::string& path) {
  require(!path.empty(), ErrorKind::invalid_argument, "the name of the plug-in library is empty");
  // A bare name is a file here, never one that the system would look for.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  require(std::filesystem::exists(file), ErrorKind::io, "there is no plug-in library '", path, "'");
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = ::dlerror();
    fail(ErrorKind::io, cat("the plug-in library '", path, "' cannot be opened: ", why ? why : "no reason given"));
  }
  return {handle, [](const void* h) { ::dlclose(const_cast<void*>(h)); }};
}

tenfold_plugin_library library_table(const void* handle) {
  void* symbol = ::dlsym(const_cast<void*>(handle), "tenfold_plugins");
  require(symbol != nullptr, ErrorKind::invalid_argument,
          "it does not export 'tenfold_plugins': it is no plug-in library of Tenfold");
  const auto function = reinterpret_cast<tenfold_plugins_function>(symbol);
  const tenfold_plugin_host host{sizeof host, TENFOLD_PLUGIN_ABI, TENFOLD_VERSION};
  const tenfold_plugin_library* given = function(&host);
  tenfold_plugin_library library =
      runtime::take_struct(given, TENFOLD_BYTES_WITH(tenfold_plugin_library, abi), "what tenfold_plugins() returns");
  require(library.abi == TENFOLD_PLUGIN_ABI, ErrorKind::invalid_argument, "it has version ", library.abi,
          " of the plug-in interface, this version of Tenfold (", TENFOLD_VERSION, ") has ", TENFOLD_PLUGIN_ABI,
          ": build it with this version's tenfold/plugin_abi.h");
  library = runtime::take_struct(given, TENFOLD_BYTES_WITH(tenfold_plugin_library, operators),
                                 "what tenfold_plugins() returns");
  require(!library.error, ErrorKind::invalid_argument, "it says: ", library.error ? library.error : "");
  constexpr std::int32_t kMax = 1 << 16;
  require(library.operator_count >= 0 && library.operator_count <= kMax &&
              (library.operator_count == 0 || library.operators),
          ErrorKind::invalid_argument, "it gives ", library.operator_count, " operators");
  require(library.operator_count > 0, ErrorKind::invalid_argument, "it gives no operators");
  return library;
}

}  // namespace

Plugins::Impl::Impl() {
  for (const ir::OpDef* def : ir::Registry::builtin().all()) registry.add(*def);
}

void Plugins::Impl::add(const tenfold_plugin_operator* given, const std::string& library,
                        std::shared_ptr<const void> keeps_library) {
  const std::shared_ptr<PluginTable> plugin = runtime::take_operator(given, library, std::move(keeps_library));
  plugin->registry = &registry;
  of_this_process = of_this_process || library.empty();
  ir::Attributes defaults =
      runtime::take_attributes(plugin->table.attributes, plugin->table.attribute_count, runtime::plugin_text(*plugin));
  for (std::int32_t i = 0; i < plugin->table.attribute_count; ++i) plugin->attribute_names.push_back(plugin->table.attributes[i].name);
  require(!defaults.has(runtime::kPluginVersion), ErrorKind::invalid_argument, "the attribute '",
          runtime::kPluginVersion, "' of ", runtime::plugin_text(*plugin), " is Tenfold's own");
  registry.add(runtime::plugin_operator(plugin, std::move(defaults)));
  std::string line = cat(plugin->name, " since ", plugin->table.since, " version ", plugin->table.version);
  for (const runtime::PluginTacticTable& t : plugin->tactics) line += cat(", ", t.name, " for ", t.device, " version ", t.table.version);
  identity.push_back(std::move(line));
  for (runtime::PluginTactic& t : runtime::plugin_tactics(*plugin))
    (backends::gpu_ordinal(t.device) ? on_gpu : on_cpu).push_back(std::move(t.tactic));
}

Plugins::Plugins() : impl_(std::make_unique<Impl>()) {}
Plugins::~Plugins() = default;

void Plugins::add(const tenfold_plugin_operator* plugin) { impl_->add(plugin, "", nullptr); }

namespace {

Tensor borrowed(const tenfold_plugin_tensor& t) {
  return Tensor(plugin_adapter::plugin_dtype(t.dtype), Shape(t.shape, t.shape + t.rank),
                std::shared_ptr<const void>(std::shared_ptr<void>(), t.data), t.data)
      .clone();
}

template <class Plugin>
void add_adapted(Plugins::Impl& impl, std::shared_ptr<const Plugin> plugin) {
  require(plugin != nullptr, ErrorKind::invalid_argument, "the plug-in is null");
  auto adapter = std::make_unique<plugin_adapter::PluginAdapter>(std::move(plugin), borrowed);
  adapter->table().release = [](void* self) { delete static_cast<plugin_adapter::PluginAdapter*>(self); };
  impl.add(&adapter.release()->table(), "", nullptr);
}

}  // namespace

void Plugins::add(std::shared_ptr<const PluginOperator> op) { add_adapted(*impl_, std::move(op)); }
void Plugins::add(std::shared_ptr<const PluginGraph> graph) { add_adapted(*impl_, std::move(graph)); }

void Plugins::load(const std::string& path) {
  const std::shared_ptr<const void> handle = open_library(path);
  try {
    const tenfold_plugin_library library = library_table(handle.get());
    const std::string name = std::filesystem::path(path).filename().string();
    const auto file = MappedFile::read(path);
    const Hash128 hash = hash128(file->bytes());
    impl_->identity.push_back(cat("library of ", file->bytes().size(), " bytes, ", hash.low, " ", hash.high));
    for (std::int32_t i = 0; i < library.operator_count; ++i) impl_->add(library.operators[i], name, handle);
    impl_->libraries.push_back(std::filesystem::absolute(path).string());
  } catch (Error& e) {
    throw e.within("plug-in library '" + path + "'");
  }
}

namespace runtime {

const ir::Registry& registry_with(const Plugins* plugins) {
  return plugins ? plugins->impl().registry : ir::Registry::builtin();
}

backends::TacticSet tactics_with(const backends::Backend& backend, const Plugins* plugins) {
  if (!plugins) return backend;
  static const std::vector<backends::Tactic> none;
  switch (backends::kind_of(backend.info())) {
    case backends::DeviceKind::cpu: return {backend, plugins->impl().on_cpu};
    case backends::DeviceKind::gpu: return {backend, plugins->impl().on_gpu};
    case backends::DeviceKind::none: break;
  }
  return {backend, none};
}

}  // namespace runtime
}  // namespace tenfold
