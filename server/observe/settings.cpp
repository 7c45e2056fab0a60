#include "observe/settings.h"

#include "observe/log.h"
#include "observe/tracer.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

template <class Type>
const Type& as(const std::string& name, const LogValue& value, const char* type) {
  if (const Type* found = std::get_if<Type>(&value)) return *found;
  throw Error(ErrorKind::invalid_argument, "'" + name + "' is no " + type);
}

}  // namespace

std::vector<std::pair<std::string, std::vector<std::string>>> shown_trace_settings(const std::string& model) {
  const TraceSettings::Shown shown = tracer().settings(model);
  const TraceOptions& options = tracer().options();
  return {{"trace_level", {shown.timestamps ? "TIMESTAMPS" : "OFF"}},
          {"trace_rate", {std::to_string(shown.rate)}},
          {"trace_count", {std::to_string(shown.count)}},
          {"trace_mode", {"opentelemetry"}},
          {"url", {options.url}},
          {"bsp_max_export_batch_size", {std::to_string(options.batch)}},
          {"bsp_schedule_delay", {std::to_string(options.delay.count())}},
          {"bsp_max_queue_size", {std::to_string(options.queue)}}};
}

std::vector<std::pair<std::string, LogValue>> shown_log_settings() {
  const LogSettings settings = log_settings();
  return {{"log_file", settings.file},
          {"log_info", settings.info},
          {"log_warning", settings.warning},
          {"log_error", settings.error},
          {"log_verbose_level", static_cast<std::uint32_t>(settings.verbose)},
          {"log_format", std::string(name(settings.format))}};
}

void update_log_settings(const std::map<std::string, LogValue>& update) {
  constexpr std::uint32_t kMaxVerbose = 1000;
  LogSettings settings = log_settings();
  for (const auto& [name, value] : update) {
    if (name == "log_file") throw Error(ErrorKind::unsupported, "log file location can not be updated through network protocol");
    if (name == "log_info") settings.info = as<bool>(name, value, "boolean");
    if (name == "log_warning") settings.warning = as<bool>(name, value, "boolean");
    if (name == "log_error") settings.error = as<bool>(name, value, "boolean");
    if (name == "log_verbose_level")
      settings.verbose = static_cast<int>(std::min(as<std::uint32_t>(name, value, "integer of 0 or more"), kMaxVerbose));
    if (name == "log_format") settings.format = log_format(as<std::string>(name, value, "string"));
  }
  set_log_settings(std::move(settings));
}

}  // namespace tenfold::server
