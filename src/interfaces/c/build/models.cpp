// Models that are not built, from C: bindings, weights, operators. And what builds into plan caches and fallback chains.
#include "c/build/builder.h"
#include "tenfold/c/fallback_chain.h"
#include "tenfold/c/plan_cache.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_model {
  std::vector<BindingInfo> bindings;
};
struct tenfold_weights {
  std::vector<std::pair<std::string, Tensor>> list;
};

extern "C" tenfold_status tenfold_model_open(const char* path, const tenfold_build_config* config, tenfold_model** model) {
  return guarded([&] {
    place(model, "the place for the model",
          [&] { return new tenfold_model{model_bindings(std::string(&need(path, "the path")), config_of(config))}; });
  });
}
extern "C" tenfold_status tenfold_model_open_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config,
                                                   tenfold_model** model) {
  return guarded([&] {
    const std::span all(&need(static_cast<const std::byte*>(onnx), "the model"), bytes);
    place(model, "the place for the model", [&] { return new tenfold_model{model_bindings(all, config_of(config))}; });
  });
}
extern "C" void tenfold_model_free(tenfold_model* model) { delete model; }
extern "C" int32_t tenfold_model_bindings(const tenfold_model* model) { return model ? static_cast<int32_t>(model->bindings.size()) : 0; }
extern "C" tenfold_status tenfold_model_binding(const tenfold_model* model, int32_t binding, tenfold_binding_info* info) {
  return guarded(
      [&] { give(info, information(element(need(model, "the model").bindings, binding, "binding")), "the place for the information"); });
}
extern "C" const char* tenfold_model_binding_symbol(const tenfold_model* model, int32_t binding, int32_t dim) {
  return model ? symbol_of(model->bindings, binding, dim) : nullptr;
}

extern "C" tenfold_status tenfold_weights_read(const char* path, const tenfold_build_config* config, tenfold_weights** weights) {
  return guarded([&] {
    place(weights, "the place for the weights",
          [&] { return new tenfold_weights{read_weights(&need(path, "the path"), config_of(config))}; });
  });
}
extern "C" void tenfold_weights_free(tenfold_weights* weights) { delete weights; }
extern "C" int32_t tenfold_weights_count(const tenfold_weights* weights) {
  return weights ? static_cast<int32_t>(weights->list.size()) : 0;
}
extern "C" tenfold_status tenfold_weights_get(const tenfold_weights* weights, int32_t index, tenfold_weight* weight) {
  return guarded([&] {
    const auto& [key, tensor] = element(need(weights, "the weights").list, index, "weight");
    give(weight,
         {0, key.c_str(), name(tensor.dtype()).data(), tensor.shape().data(), static_cast<std::int32_t>(tensor.rank()), tensor.raw(),
          static_cast<std::size_t>(tensor.bytes())},
         "the place for the weight");
  });
}

namespace {
const std::vector<OperatorInfo>& operators() noexcept {
  static const std::vector<OperatorInfo> list = supported_operators();
  return list;
}
}  // namespace
extern "C" int32_t tenfold_operators(void) { return static_cast<int32_t>(operators().size()); }
extern "C" const char* tenfold_operator(int32_t index, const char** domain, int32_t* since) {
  if (index < 0 || index >= tenfold_operators()) return nullptr;
  const OperatorInfo& info = operators()[static_cast<std::size_t>(index)];
  if (domain) *domain = info.domain.c_str();
  if (since) *since = info.since;
  return info.name.c_str();
}
extern "C" const char* tenfold_operator_types(int32_t index) {
  return index < 0 || index >= tenfold_operators() ? nullptr : operators()[static_cast<std::size_t>(index)].types.c_str();
}
extern "C" const char* tenfold_operator_attributes(int32_t index) {
  return index < 0 || index >= tenfold_operators() ? nullptr : operators()[static_cast<std::size_t>(index)].attributes.c_str();
}

extern "C" tenfold_status tenfold_plan_cache_build_file(const tenfold_plan_cache* cache, const char* path,
                                                        const tenfold_build_config* config, const char* name, tenfold_engine** engine,
                                                        int32_t* cached) {
  return make_engine(engine, [&] {
    bool known = false;
    Engine built = build_file(&need(path, "the path"), config_of(config), need(cache, "the cache").cache, name ? name : "", &known);
    if (cached) *cached = known;
    return built;
  });
}
extern "C" tenfold_status tenfold_plan_cache_build_bytes(const tenfold_plan_cache* cache, const void* onnx, size_t bytes,
                                                         const tenfold_build_config* config, const char* name, tenfold_engine** engine,
                                                         int32_t* cached) {
  return make_engine(engine, [&] {
    bool known = false;
    const std::span model(&need(static_cast<const std::byte*>(onnx), "the model"), bytes);
    Engine built = build_bytes(model, config_of(config), need(cache, "the cache").cache, name ? name : "", &known);
    if (cached) *cached = known;
    return built;
  });
}
extern "C" tenfold_status tenfold_plan_cache_create_compatible(const char* folder, int64_t max_bytes, tenfold_plan_cache** cache) {
  return guarded([&] {
    PlanCacheOptions options{.folder = folder ? folder : ""};
    if (max_bytes != 0) options.max_bytes = max_bytes;
    options.load = [](const std::string& path, const LoadOptions& load) { return load_compatible(path, load); };
    place(cache, "the place for the cache", [&] { return new tenfold_plan_cache{PlanCache(options)}; });
  });
}
extern "C" tenfold_status tenfold_plan_key(const char* path, const tenfold_build_config* config, const char** key) {
  thread_local std::string last;
  return guarded([&] {
    last = plan_key(&need(path, "the path"), config_of(config));
    need(key, "the place for the key") = last.c_str();
  });
}
extern "C" tenfold_status tenfold_fallback_chain_add_compatible_plan(tenfold_fallback_chain* fallback_chain, const char* path,
                                                             const tenfold_load_options* options) {
  return guarded([&] {
    require(!need(fallback_chain, "the fallback chain").fallback_chain, ErrorKind::invalid_argument,
            "a candidate comes after the first was opened");
    fallback_chain->candidates.push_back(compatible_candidate(&need(path, "the path"), "", options_of(options)));
  });
}
extern "C" tenfold_status tenfold_fallback_chain_add_model(tenfold_fallback_chain* fallback_chain, const char* path,
                                                           const tenfold_build_config* config, const tenfold_plan_cache* cache) {
  return guarded([&] {
    require(!need(fallback_chain, "the fallback chain").fallback_chain, ErrorKind::invalid_argument,
            "a candidate comes after the first was opened");
    fallback_chain->candidates.push_back(model_candidate(&need(path, "the path"), config_of(config), cache ? &cache->cache : nullptr));
  });
}
