// TraceSetting and LogSettings, in protobuf what routes/settings_routes.cpp is in JSON.
#include "grpc_service.pb.h"
#include "observe/settings.h"
#include "observe/tracer.h"
#include "protocol/grpc_inference.h"
#include "protocol/grpc_tensors.h"
#include "protocol/grpc_unary.h"

namespace tenfold::server::grpc {
namespace {

using namespace inference;  // protobuf's messages

LogValue log_value(const LogSettingsRequest::SettingValue& value) {
  switch (value.parameter_choice_case()) {
    case LogSettingsRequest::SettingValue::kBoolParam: return value.bool_param();
    case LogSettingsRequest::SettingValue::kUint32Param: return value.uint32_param();
    default: return value.string_param();
  }
}

void fill(LogSettingsResponse& response) {
  for (const auto& [name, value] : shown_log_settings()) {
    auto& shown = (*response.mutable_settings())[name];
    if (const auto* text = std::get_if<std::string>(&value))
      shown.set_string_param(*text);
    else if (const auto* on = std::get_if<bool>(&value))
      shown.set_bool_param(*on);
    else
      shown.set_uint32_param(std::get<std::uint32_t>(value));
  }
}

// What settings throw becomes the call's status.
template <class Change>
CallStatus changed(const Change& apply) {
  try {
    apply();
    return {};
  } catch (const RequestError& error) {
    return status_of({error.code, error.what()});
  } catch (const Error& error) {
    return status_of({code_of(error.kind()), error.what()});
  }
}

}  // namespace

void add_settings(Services& services, const std::shared_ptr<Models>& models) {
  services[kService + "TraceSetting"] =
      unary_method<TraceSettingRequest, TraceSettingResponse>([models](const TraceSettingRequest& request, TraceSettingResponse& response) {
        return changed([&] {
          if (!request.model_name().empty()) models->find(request.model_name(), "");
          TraceUpdate update;
          for (const auto& [name, value] : request.settings()) update[name] = {value.value().begin(), value.value().end()};
          if (!update.empty()) tracer().update(request.model_name(), update);
          for (const auto& [name, values] : shown_trace_settings(request.model_name()))
            for (const std::string& value : values) (*response.mutable_settings())[name].add_value(value);
        });
      });
  services[kService + "LogSettings"] =
      unary_method<LogSettingsRequest, LogSettingsResponse>([](const LogSettingsRequest& request, LogSettingsResponse& response) {
        return changed([&] {
          std::map<std::string, LogValue> update;
          for (const auto& [name, value] : request.settings()) update.insert_or_assign(name, log_value(value));
          if (!update.empty()) update_log_settings(update);
          fill(response);
        });
      });
}

}  // namespace tenfold::server::grpc
