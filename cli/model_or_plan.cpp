// Opening whatever a path names: a plan is loaded, anything else is taken for a model and built.
#include "model_or_plan.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "specs.h"
#include "tenfold/device.h"

namespace tenfold::cli {

bool is_plan(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorKind::io, "cannot open '" + path + "': " + std::generic_category().message(errno));
  char magic[8] = {};
  in.read(magic, sizeof magic);
  return std::string_view(magic, 8) == std::string_view("\x89TFPLAN\n", 8);
}

void add_build_flags(Flags& flags, BuildConfig& config) {
  flags.add({"shapes", "SPEC", "shapes of dynamic inputs: name:1x3x224x224,other:1x128", [&config](const std::string& text) {
               if (config.profiles.empty()) config.profiles.emplace_back();
               for (auto& [name, shape] : parse_shapes("shapes", text)) config.profiles[0][name] = {shape, shape, shape};
             }});
  flags.add({"threads", "N", "threads to tune for and run on",
             [&config](const std::string& text) { config.threads = parse_int("threads", text); }});
  flags.add_text("timingCacheFile", config.timing_cache, "FILE", "reuse and extend measured times");
  flags.add_switch("bf16", config.bf16, "permission to compute in bfloat16");
  flags.add({"cpuFeatures", "LIST", "use only these: avx2,avx512,vnni,avx512bf16,amxint8,amxbf16",
             [&config](const std::string& text) { config.cpu_features = parse_cpu_features(text); }});
  flags.add({"externalDataDir", "DIR", "a further folder that weights may lie in",
             [&config](const std::string& text) { config.external_data_dirs.push_back(text); }});
}

Engine open_model_or_plan(const std::string& path, const BuildConfig& config) {
  if (!is_plan(path)) return build_file(path, config);
  return Engine::load(path, {.cpu_features = config.cpu_features, .threads = config.threads, .log = config.log});
}

}  // namespace tenfold::cli
