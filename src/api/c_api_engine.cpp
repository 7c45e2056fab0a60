// Engines from C: plans, bindings and refit.
#include "api/c_api_common.h"

using namespace tenfold;
using namespace tenfold::c;

namespace {

LoadOptions options_of(const tenfold_load_options* given) {
  LoadOptions options;
  if (!given) return options;
  const tenfold_load_options o = taken(given, "the load options");
  require(o.weights >= TENFOLD_WEIGHTS_AUTO && o.weights <= TENFOLD_WEIGHTS_MAP, ErrorKind::invalid_argument, "weights is ", o.weights,
          ", one of TENFOLD_WEIGHTS_AUTO, _COPY, _LOCK and _MAP was expected");
  if (o.device) options.device = o.device;
  options.threads = o.threads;
  options.pin_threads = o.pin_threads != 0;
  static_assert(static_cast<int>(WeightsMode::map) == TENFOLD_WEIGHTS_MAP && static_cast<int>(WeightsMode::lock) == TENFOLD_WEIGHTS_LOCK);
  options.weights = static_cast<WeightsMode>(o.weights);
  options.verify_weights = o.skip_verification == 0;
  options.log = log_of(o.log, o.log_user);
  return options;
}

}  // namespace

TENFOLD_C tenfold_status tenfold_engine_load_with(const char* path, const tenfold_load_options* options, tenfold_engine** engine) {
  return make_engine(engine, [&] { return Engine::load(std::string(&need(path, "the path")), options_of(options)); });
}
TENFOLD_C tenfold_status tenfold_engine_load_bytes(const void* plan, size_t bytes, const tenfold_load_options* options,
                                                   tenfold_engine** engine) {
  return make_engine(engine, [&] {
    return Engine::load(std::span(&need(static_cast<const std::byte*>(plan), "the plan"), bytes), options_of(options));
  });
}
TENFOLD_C tenfold_status tenfold_engine_load(const char* path, tenfold_engine** engine) {
  return tenfold_engine_load_with(path, nullptr, engine);
}
TENFOLD_C tenfold_status tenfold_engine_save(const tenfold_engine* engine, const char* path) {
  return guarded([&] { need(engine, "the engine").engine.save(&need(path, "the path")); });
}
TENFOLD_C void tenfold_engine_free(tenfold_engine* engine) { delete engine; }
TENFOLD_C int32_t tenfold_engine_bindings(const tenfold_engine* engine) {
  return engine ? static_cast<int32_t>(engine->engine.bindings().size()) : 0;
}
TENFOLD_C tenfold_status tenfold_engine_binding(const tenfold_engine* engine, int32_t binding, tenfold_binding_info* info) {
  return guarded([&] {
    const auto& all = need(engine, "the engine").engine.bindings();
    require(binding >= 0 && binding < static_cast<int32_t>(all.size()), ErrorKind::invalid_argument, "there is no binding ", binding);
    const BindingInfo& b = all[static_cast<std::size_t>(binding)];
    // name() gives literals, so their text ends in a zero.
    give(info, {0, b.name.c_str(), name(b.dtype).data(), b.shape.data(), static_cast<std::int32_t>(b.shape.size()), b.is_input},
         "the place for the information");
  });
}

TENFOLD_C int32_t tenfold_engine_weights(const tenfold_engine* engine) { return engine ? static_cast<int32_t>(engine->weights.size()) : 0; }
TENFOLD_C tenfold_status tenfold_engine_weight(const tenfold_engine* engine, int32_t weight, tenfold_weight_info* info) {
  return guarded([&] {
    const auto& all = need(engine, "the engine").weights;
    require(weight >= 0 && weight < static_cast<int32_t>(all.size()), ErrorKind::invalid_argument, "there is no weight ", weight);
    const WeightInfo& w = all[static_cast<std::size_t>(weight)];
    give(info, {0, w.name.c_str(), name(w.dtype).data(), w.shape.data(), static_cast<std::int32_t>(w.shape.size()), w.fixed.c_str()},
         "the place for the information");
  });
}
TENFOLD_C tenfold_status tenfold_engine_refit(const tenfold_engine* engine, const tenfold_weight* weights, int32_t count,
                                              tenfold_engine** refitted) {
  return make_engine(refitted, [&] {
    require(count >= 0 && (count == 0 || weights), ErrorKind::invalid_argument, count, " weights are given, or their list is null");
    std::vector<std::pair<std::string, Tensor>> list;
    const auto* at = reinterpret_cast<const char*>(weights);
    for (std::int32_t i = 0; i < count; ++i) {
      const tenfold_weight w = taken(reinterpret_cast<const tenfold_weight*>(at), "a weight");
      at += reinterpret_cast<const tenfold_weight*>(at)->struct_size;
      list.emplace_back(&need(w.name, "a weight's name"), tensor_of(w.dtype, w.shape, w.rank, w.data, w.bytes, "a weight"));
    }
    return need(engine, "the engine").engine.refit(list);
  });
}
