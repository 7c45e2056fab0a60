// Engines from C: plans, bindings and refit.
#include "c/run/plugins.h"
#include "tenfold/c/engine.h"

using namespace tenfold;
using namespace tenfold::c;

LoadOptions tenfold::c::options_of(const tenfold_load_options* given) {
  LoadOptions options;
  if (!given) return options;
  const tenfold_load_options o = taken(given, "the load options");
  require(o.weights >= TENFOLD_WEIGHTS_AUTO && o.weights <= TENFOLD_WEIGHTS_MAP, ErrorKind::invalid_argument, "weights is ", o.weights,
          ", one of TENFOLD_WEIGHTS_AUTO, _COPY, _LOCK and _MAP was expected");
  if (o.device) options.device = o.device;
  options.threads = o.threads;
  options.pin_threads = o.pin_threads != 0, options.device_code = o.no_device_code == 0;
  static_assert(static_cast<int>(WeightsMode::map) == TENFOLD_WEIGHTS_MAP && static_cast<int>(WeightsMode::lock) == TENFOLD_WEIGHTS_LOCK);
  options.weights = static_cast<WeightsMode>(o.weights);
  options.verify_weights = o.skip_verification == 0;
  options.log = log_of(o.log, o.log_user);
  options.cpu_features = o.cpu_features;
  options.plugins = plugins_of(o.plugins), options.runtime = runtime_of(o.runtime);
  return options;
}

extern "C" tenfold_status tenfold_engine_load_with(const char* path, const tenfold_load_options* options, tenfold_engine** engine) {
  return make_engine(engine, [&] { return Engine::load(std::string(&need(path, "the path")), options_of(options)); });
}
extern "C" tenfold_status tenfold_engine_load_bytes(const void* plan, size_t bytes, const tenfold_load_options* options,
                                                    tenfold_engine** engine) {
  return make_engine(
      engine, [&] { return Engine::load(std::span(&need(static_cast<const std::byte*>(plan), "the plan"), bytes), options_of(options)); });
}
extern "C" tenfold_status tenfold_engine_load(const char* path, tenfold_engine** engine) {
  return tenfold_engine_load_with(path, nullptr, engine);
}
extern "C" tenfold_status tenfold_engine_save(const tenfold_engine* engine, const char* path) {
  return guarded([&] { need(engine, "the engine").engine.save(&need(path, "the path")); });
}
extern "C" tenfold_status tenfold_engine_load_from(uint64_t bytes, tenfold_read_function read, void* user,
                                                   const tenfold_load_options* options, tenfold_engine** engine) {
  return make_engine(engine, [&] {
    need(read, "the function that reads");
    const auto from = [&](std::uint64_t offset, std::span<std::byte> to) {
      const tenfold_status status = read(user, offset, to.data(), to.size());
      require(status == TENFOLD_OK, kind_of(status), "reading ", to.size(), " bytes of the plan at ", offset, " failed");
    };
    return Engine::load(PlanReader{bytes, from}, options_of(options));
  });
}
extern "C" tenfold_status tenfold_engine_save_to(const tenfold_engine* engine, tenfold_write_function write, void* user) {
  return guarded([&] {
    need(write, "the function that writes");
    need(engine, "the engine").engine.save([&](std::span<const std::byte> piece) {
      const tenfold_status status = write(user, piece.data(), piece.size());
      require(status == TENFOLD_OK, kind_of(status), "writing ", piece.size(), " bytes of the plan failed");
    });
  });
}
extern "C" tenfold_status tenfold_engine_share(const tenfold_engine* engine, tenfold_engine** handle) {
  return make_engine(handle, [&] { return need(engine, "the engine").engine; });
}
extern "C" void tenfold_engine_free(tenfold_engine* engine) { delete engine; }
extern "C" int32_t tenfold_engine_bindings(const tenfold_engine* engine) {
  return engine ? static_cast<int32_t>(engine->engine.bindings().size()) : 0;
}
extern "C" tenfold_status tenfold_engine_binding(const tenfold_engine* engine, int32_t binding, tenfold_binding_info* info) {
  return guarded([&] {
    const auto& all = need(engine, "the engine").engine.bindings();
    require(binding >= 0 && binding < static_cast<int32_t>(all.size()), ErrorKind::invalid_argument, "there is no binding ", binding);
    give(info, information(all[static_cast<std::size_t>(binding)]), "the place for the information");
  });
}
extern "C" const char* tenfold_engine_binding_symbol(const tenfold_engine* engine, int32_t binding, int32_t dim) {
  return engine ? symbol_of(engine->engine.bindings(), binding, dim) : nullptr;
}
extern "C" tenfold_status tenfold_engine_find_binding(const tenfold_engine* engine, const char* name, int32_t* binding) {
  return guarded(
      [&] { need(binding, "the place for the binding") = need(engine, "the engine").engine.binding_index(&need(name, "the name")); });
}
extern "C" tenfold_status tenfold_engine_info(const tenfold_engine* engine, tenfold_engine_information* info) {
  return guarded([&] {
    const EngineInfo& i = need(engine, "the engine").engine.info();
    give(info,
         {0, i.model_name.c_str(), i.device.c_str(), i.builder.c_str(), i.weight_bytes, i.arena_bytes, i.scratch_bytes, i.arena_live_bytes,
          i.library_workspace_bytes, i.profiles, i.steps, i.threads, i.on_gpu, i.waits_in_run, i.allocates_in_run,
          static_cast<std::int32_t>(i.notes.size()), i.workspace_bytes, i.binding_bytes, i.pinned_bytes, i.precomputed_steps, 0},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_engine_gpu_bytes(const tenfold_engine* engine, int64_t* bytes) {
  return guarded([&] { need(bytes, "the place for the number") = need(engine, "the engine").engine.gpu_bytes(); });
}
static_assert(static_cast<int>(NoteKind::clocks) == TENFOLD_NOTE_CLOCKS && static_cast<int>(Severity::error) == TENFOLD_LOG_ERROR);
extern "C" tenfold_status tenfold_engine_note(const tenfold_engine* engine, int32_t index, tenfold_note* note) {
  return guarded(
      [&] { give(note, information(element(need(engine, "the engine").engine.info().notes, index, "note")), "the place for the note"); });
}
extern "C" tenfold_status tenfold_engine_profile_shape(const tenfold_engine* engine, int32_t profile, int32_t input, int64_t* min,
                                                       int64_t* opt, int64_t* max, int32_t* rank) {
  return guarded([&] {
    const Engine& own = need(engine, "the engine").engine;
    const Engine::ProfileShapes shapes = own.profile_shapes(profile, element(own.bindings(), input, "binding").name);
    const std::int32_t room = need(rank, "the place for the rank");
    for (const auto& [shape, to] : {std::pair(&shapes.min, min), {&shapes.opt, opt}, {&shapes.max, max}}) {
      *rank = room;
      if (to) give_list(*shape, to, rank, "a shape");
    }
    *rank = static_cast<std::int32_t>(shapes.min.size());
  });
}
extern "C" int32_t tenfold_engine_labels(const tenfold_engine* engine) { return engine ? static_cast<int32_t>(engine->labels.size()) : 0; }
extern "C" const char* tenfold_engine_label(const tenfold_engine* engine, int32_t index, const char** key) {
  if (index < 0 || index >= tenfold_engine_labels(engine)) return nullptr;
  const auto& [name, value] = engine->labels[static_cast<std::size_t>(index)];
  if (key) *key = name.c_str();
  return value.c_str();
}

extern "C" int32_t tenfold_engine_weights(const tenfold_engine* engine) {
  return engine ? static_cast<int32_t>(engine->weights.size()) : 0;
}
extern "C" tenfold_status tenfold_engine_weight(const tenfold_engine* engine, int32_t weight, tenfold_weight_info* info) {
  return guarded([&] {
    const auto& all = need(engine, "the engine").weights;
    require(weight >= 0 && weight < static_cast<int32_t>(all.size()), ErrorKind::invalid_argument, "there is no weight ", weight);
    const WeightInfo& w = all[static_cast<std::size_t>(weight)];
    give(info, {0, w.name.c_str(), name(w.dtype).data(), w.shape.data(), static_cast<std::int32_t>(w.shape.size()), w.fixed.c_str()},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_engine_refit(const tenfold_engine* engine, const tenfold_weight* weights, int32_t count,
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
