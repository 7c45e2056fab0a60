// The engines of a model from C.
#include "c/build/builder.h"
#include "tenfold/c/model_engines.h"
#include "tenfold/model_engines.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_model_engines {
  ModelEngines engines;
};
struct tenfold_served_list {
  std::vector<ServedShapes> all;
};

namespace {

static_assert(static_cast<int>(Tune::background) == TENFOLD_TUNE_BACKGROUND &&
              static_cast<int>(Tune::never) == TENFOLD_TUNE_NEVER);

ModelEnginesOptions options_for(const tenfold_build_config* config, const tenfold_model_engines_options* given) {
  ModelEnginesOptions options;
  options.build = config_of(config);
  if (!given) return options;
  const auto c = taken(given, "the options");
  require(c.tune >= TENFOLD_TUNE_NOW && c.tune <= TENFOLD_TUNE_BACKGROUND, ErrorKind::invalid_argument, "tune is ",
          c.tune, ", one of TENFOLD_TUNE_NOW, _NEVER and _BACKGROUND was expected");
  options.tune = static_cast<Tune>(c.tune);
  if (c.max_engines != 0) options.max_engines = c.max_engines;
  if (c.cache) options.cache = c.cache->cache;
  if (c.tuner) options.tuner = c.tuner;
  return options;
}

void hand_out(tenfold_engine** engine, tenfold_served_engine* served, ServedEngine found) {
  if (served) give(served, {0, found.number, found.tuned, found.settled}, "the place for the information");
  place(engine, "the place for the engine", [&] { return new tenfold_engine{std::move(found.engine)}; });
}

}  // namespace

extern "C" tenfold_status tenfold_model_engines_create(const char* path, const tenfold_build_config* config,
                                                       const tenfold_model_engines_options* options,
                                                       tenfold_model_engines** engines) {
  return guarded([&] {
    place(engines, "the place for the engines", [&] {
      return new tenfold_model_engines{
          ModelEngines(std::string(&need(path, "the path")), options_for(config, options))};
    });
  });
}
extern "C" tenfold_status tenfold_model_engines_create_bytes(const void* onnx, size_t bytes,
                                                             const tenfold_build_config* config,
                                                             const tenfold_model_engines_options* options,
                                                             tenfold_model_engines** engines) {
  return guarded([&] {
    place(engines, "the place for the engines", [&] {
      const std::byte* const from = &need(static_cast<const std::byte*>(onnx), "the model");
      return new tenfold_model_engines{
          ModelEngines(std::vector<std::byte>(from, from + bytes), options_for(config, options))};
    });
  });
}
extern "C" void tenfold_model_engines_free(tenfold_model_engines* engines) { delete engines; }

extern "C" tenfold_status tenfold_model_engines_get(tenfold_model_engines* engines, const tenfold_input_shape* shapes,
                                                    int32_t count, tenfold_engine** engine,
                                                    tenfold_served_engine* served) {
  return guarded([&] {
    need(engine, "the place for the engine");
    std::map<std::string, Shape> by_name;
    if (count > 0) need(shapes, "the shapes");
    for (std::int32_t i = 0; i < count; ++i)
      by_name[&need(shapes[i].input, "a shape's input")] = shape_of(shapes[i].dims, shapes[i].rank);
    hand_out(engine, served, need(engines, "the engines").engines.engine_for(by_name));
  });
}
extern "C" tenfold_status tenfold_model_engines_get_any(tenfold_model_engines* engines, tenfold_engine** engine,
                                                        tenfold_served_engine* served) {
  return guarded([&] {
    need(engine, "the place for the engine");
    hand_out(engine, served, need(engines, "the engines").engines.any_engine());
  });
}
extern "C" tenfold_status tenfold_model_engines_wait(const tenfold_model_engines* engines, int64_t milliseconds,
                                                     int32_t* settled) {
  return guarded([&] {
    constexpr int64_t kYear = 1000LL * 3600 * 24 * 365;
    const auto longest = std::chrono::milliseconds(milliseconds < 0 ? kYear : std::min(milliseconds, kYear));
    const bool there = need(engines, "the engines").engines.wait(longest);
    if (settled) *settled = there;
  });
}

extern "C" tenfold_status tenfold_model_engines_list_served(const tenfold_model_engines* engines,
                                                            tenfold_served_list** list) {
  return guarded([&] {
    place(list, "the place for the list",
          [&] { return new tenfold_served_list{need(engines, "the engines").engines.served()}; });
  });
}
extern "C" void tenfold_served_list_free(tenfold_served_list* list) { delete list; }
extern "C" int32_t tenfold_served_list_count(const tenfold_served_list* list) {
  return list ? static_cast<int32_t>(list->all.size()) : 0;
}
extern "C" tenfold_status tenfold_served_list_get(const tenfold_served_list* list, int32_t index,
                                                  tenfold_served_shapes* info) {
  return guarded([&] {
    const ServedShapes& s = element(need(list, "the list").all, index, "entry");
    give(info, {0, s.tuned, s.pending, s.failure.c_str(), s.requests, s.number}, "the place for the information");
  });
}
extern "C" tenfold_status tenfold_served_list_range(const tenfold_served_list* list, int32_t index, const char* input,
                                                    tenfold_range* range) {
  return guarded([&] {
    const ServedShapes& s = element(need(list, "the list").all, index, "entry");
    const auto found = s.shapes.find(&need(input, "the input"));
    require(found != s.shapes.end(), ErrorKind::invalid_argument, "'", input, "' is no input with open extents");
    const auto& [min, opt, max] = found->second;
    give(range, {0, found->first.c_str(), 0, static_cast<std::int32_t>(min.size()), min.data(), opt.data(), max.data()},
         "the place for the range");
  });
}
extern "C" void tenfold_end_background_builds(void) { end_background_builds(); }
