// Writing and reading build requests.
#include "background/build_request.h"

#include <unistd.h>

#include <cerrno>

#include "background/archive.h"
#include "base/system_error.h"
#include "runtime/plugins/plugins.h"

namespace tenfold::background {
namespace {

constexpr std::string_view kHead = "tenfold build request of ";

// Every field of BuildConfig has a name here, so that a new one does not compile until it travels, or is named among
// those that do not.
template <class A>
void pass_config(A& a, BuildConfig& c) {
  auto& [device, threads, pin_threads, profiles, input_formats, output_formats, overridable, input_defaults, fp16, bf16, int8, fp8,
         calibration, budget, auto_precision, layer_types, check_overflow, typical_inputs, tf32, tf32_convolutions, tf32_matmul, winograd,
         strassen, fast_exp, pack_tokens, newest_row, optimization_level, max_tactics, timing_repetitions, tactic_sources, workspace_bytes,
         cpu_features, timing_cache, timings, error_on_cache_miss,
         time_limit_s, disabled_passes, external_data_dirs, initializers, keep_portable_graph,
         version_compatible, hardware_compatible, refittable, random_choices, forced_tactics, choose_tactic, labels, plugins, log, runtime,
         progress, dump] = c;
  pass(a, device), pass(a, threads), pass(a, profiles), pass(a, input_formats), pass(a, output_formats),
      pass(a, overridable);
  pass(a, input_defaults), pass(a, fp16), pass(a, bf16), pass(a, int8), pass(a, fp8), pass(a, check_overflow),
      pass(a, typical_inputs);
  pass(a, tf32), pass(a, tf32_convolutions), pass(a, tf32_matmul), pass(a, winograd), pass(a, strassen), pass(a, fast_exp),
      pass(a, pack_tokens), pass(a, newest_row), pass(a, optimization_level);
  pass(a, max_tactics), pass(a, timing_repetitions), pass(a, tactic_sources), pass(a, workspace_bytes),
      pass(a, cpu_features);
  pass(a, timing_cache), pass(a, error_on_cache_miss), pass(a, time_limit_s), pass(a, disabled_passes), pass(a, external_data_dirs),
      pass(a, initializers), pass(a, keep_portable_graph);
  pass(a, version_compatible), pass(a, hardware_compatible), pass(a, refittable), pass(a, random_choices),
      pass(a, forced_tactics);
  pass(a, labels), pass(a, auto_precision), pass(a, layer_types);
  // Libraries of plug-ins travel by their names. All else is of the process that asks: why_not_elsewhere() refuses what
  // changes the plan.
  static_cast<void>(pin_threads), static_cast<void>(timings), static_cast<void>(choose_tactic),
      static_cast<void>(plugins), static_cast<void>(calibration), static_cast<void>(budget);
  static_cast<void>(log), static_cast<void>(runtime), static_cast<void>(progress), static_cast<void>(dump);
}

template <class A>
void pass_request(A& a, BuildRequest& r) {
  pass(a, r.asker), pass(a, r.key), pass(a, r.path), pass(a, r.library_places), pass(a, r.library_files),
      pass(a, r.plugin_libraries);
  pass_config(a, r.config);
}

}  // namespace

std::string why_not_elsewhere(const BuildConfig& config) {
  if (config.choose_tactic) return "choose_tactic() is a function of this process";
  if (config.calibration) return "its calibration's data comes from a function of this process";
  if (config.timings) return "its timing cache lies in the memory of this process";
  if (config.plugins && config.plugins->impl().of_this_process)
    return "it has plug-ins of this process, which no library gave";
  return "";
}

std::string head_of(BuildRequest request) {
  Writer writer;
  pass_request(writer, request);
  return cat(kHead, TENFOLD_VERSION, "\n") + writer.text();
}

BuildRequest read_request(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.find('\n');
  check(text.starts_with(kHead) && end != std::string_view::npos, "what was given is no build request");
  const std::string_view of = text.substr(kHead.size(), end - kHead.size());
  check(of == TENFOLD_VERSION, "the build request comes from version ", of, ", this program is version ",
        TENFOLD_VERSION);
  Reader reader(bytes.subspan(end + 1));
  BuildRequest request;
  pass_request(reader, request);
  request.model = reader.rest();
  return request;
}

std::string answer(char what, int number, std::string_view text) {
  std::string line = {kMark, what, static_cast<char>('0' + number)};
  for (const char c : text) line += c == '\n' ? '\v' : c;
  return line + "\n";
}

void write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    require_system(n > 0, ErrorKind::io, "cannot write to the other process of a build");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace tenfold::background
