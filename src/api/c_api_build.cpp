// Building engines from C.
#include "api/c_api_common.h"

using namespace tenfold;
using namespace tenfold::c;

namespace {

BuildConfig config_of(const tenfold_build_config* given) {
  BuildConfig config;
  if (!given) return config;
  const tenfold_build_config c = taken(given, "the build configuration");
  if (c.device) config.device = c.device;
  config.threads = c.threads;
  if (c.optimization_level >= 0) config.optimization_level = c.optimization_level;
  config.bf16 = c.allow_bf16 != 0, config.fp16 = c.allow_fp16 != 0;
  config.refittable = c.refittable != 0;
  config.tf32 = c.no_tf32 == 0;
  config.winograd = c.no_winograd == 0, config.strassen = c.no_strassen == 0, config.fast_exp = c.no_fast_exp == 0;
  require(c.pack_tokens >= 0 && c.pack_tokens <= 2, ErrorKind::invalid_argument, "pack_tokens is ", c.pack_tokens, ", expected 0, 1 or 2");
  config.pack_tokens = static_cast<PackTokens>(c.pack_tokens);
  if (c.timing_cache) config.timing_cache = c.timing_cache;
  if (c.range_count > 0) need(c.ranges, "ranges");
  const auto* at = reinterpret_cast<const char*>(c.ranges);
  for (std::int32_t i = 0; i < c.range_count; ++i) {  // the caller's structs are as far apart as they are large
    const tenfold_range r = taken(reinterpret_cast<const tenfold_range*>(at), "a range");
    at += reinterpret_cast<const tenfold_range*>(at)->struct_size;
    require(r.profile >= 0 && r.profile <= static_cast<std::int32_t>(config.profiles.size()), ErrorKind::invalid_argument,
            "a range of profile ", r.profile, " comes before profile ", config.profiles.size());
    if (r.profile == static_cast<std::int32_t>(config.profiles.size())) config.profiles.emplace_back();
    config.profiles[static_cast<std::size_t>(r.profile)][&need(r.input, "a range's input")] = {
        shape_of(r.min, r.rank), shape_of(r.opt, r.rank), shape_of(r.max, r.rank)};
  }
  config.log = log_of(c.log, c.log_user);
  if (c.progress)
    config.progress = [progress = c.progress, user = c.progress_user](const Progress& p) {
      return progress(user, std::string(p.phase).c_str(), p.done, p.total) != 0;
    };
  return config;
}

}  // namespace

TENFOLD_C tenfold_status tenfold_build_file(const char* path, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] { return build_file(&need(path, "the path"), config_of(config)); });
}
TENFOLD_C tenfold_status tenfold_build_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] {
    return build_bytes({&need(static_cast<const std::byte*>(onnx), "the model"), bytes}, config_of(config));
  });
}
TENFOLD_C tenfold_status tenfold_build_network(const tenfold_network* network, const tenfold_build_config* config,
                                               tenfold_engine** engine) {
  return make_engine(engine, [&] { return build(need(network, "the network").network, config_of(config)); });
}
TENFOLD_C tenfold_status tenfold_retune_file(const char* path, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] { return retune_file(&need(path, "the path"), config_of(config)); });
}
