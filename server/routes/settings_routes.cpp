// GET and POST of /v2/trace/setting, /v2/models/NAME/trace/setting and /v2/logging.
#include <simdjson.h>

#include "observe/settings.h"
#include "observe/tracer.h"
#include "protocol/json_text.h"
#include "routes/v2_routes.h"

namespace tenfold::server {
namespace {

namespace dom = simdjson::dom;

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

// Calls `each` with the members of the object that is the body.
template <class Each>
void read_members(const HttpRequest& http, const Each& each) {
  dom::parser parser;
  dom::element document;
  if (const auto error = parser.parse(http.text().data(), http.size, true).get(document); error != simdjson::SUCCESS)
    refuse("failed to parse the request JSON buffer: " + std::string(simdjson::error_message(error)));
  dom::object object;
  if (document.get(object) != simdjson::SUCCESS) refuse("the body must be a JSON object of settings");
  for (const auto& [name, value] : object) each(std::string(name), value);
}

std::string text_of(const std::string& name, const dom::element& value) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) refuse("'" + name + "': attempt to access JSON non-string as string");
  return std::string(text);
}

std::vector<std::string> trace_values(const std::string& name, const dom::element& value) {
  if (value.is_null()) return {};
  if (name != "trace_level") return {text_of(name, value)};
  dom::array levels;
  if (value.get(levels) != simdjson::SUCCESS) refuse("'trace_level': attempt to access JSON non-array as array");
  std::vector<std::string> values;
  for (const dom::element& level : levels) values.push_back(text_of(name, level));
  return values;
}

LogValue log_value(const std::string& name, const dom::element& value) {
  if (value.is_bool()) return bool(value);
  if (value.is_string()) return text_of(name, value);
  std::uint64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS) refuse("'" + name + "' is no boolean, string or integer of 0 or more");
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, UINT32_MAX));
}

// What settings throw, in the terms of requests.
template <class Change>
void change(const Change& apply) {
  try {
    apply();
  } catch (const Error& error) {
    throw RequestError(code_of(error.kind()), error.what());
  }
}

HttpResponse trace_settings(const std::string& model) {
  std::string json;
  for (const auto& [name, values] : shown_trace_settings(model)) {
    (json += json.empty() ? "{" : ",") += json_string(name) + ":";
    json += name == "trace_level" ? "[" + json_string(values[0]) + "]" : json_string(values[0]);
  }
  return json_response(json + "}");
}

HttpResponse log_settings_response() {
  std::string json;
  for (const auto& [name, value] : shown_log_settings()) {
    (json += json.empty() ? "{" : ",") += json_string(name) + ":";
    if (const auto* text = std::get_if<std::string>(&value))
      json += json_string(*text);
    else if (const auto* on = std::get_if<bool>(&value))
      json += *on ? "true" : "false";
    else
      json += std::to_string(std::get<std::uint32_t>(value));
  }
  return json_response(json + "}");
}

}  // namespace

void add_settings_routes(RouteFamily& v2, const std::shared_ptr<Models>& models) {
  // Empty: of all models.
  const auto named = [models](const RoutedRequest& request) {
    const std::string model = request.get("model");
    if (!model.empty()) models->find(model, "");
    return model;
  };
  for (const char* path : {"/v2/trace/setting", "/v2/models/{model}/trace/setting"}) {
    v2.get(path, [named](const RoutedRequest& request) { return trace_settings(named(request)); });
    v2.add("POST", path, [named](const RoutedRequest& request) {
      const std::string model = named(request);
      TraceUpdate update;
      read_members(request.exchange->request(),
                   [&](const std::string& name, const dom::element& value) {
                     if (name.starts_with("trace_")) update[name] = trace_values(name, value);
                   });
      change([&] { tracer().update(model, update); });
      request.exchange->respond(trace_settings(model));
    });
  }
  v2.get("/v2/logging", [](const RoutedRequest&) { return log_settings_response(); });
  v2.add("POST", "/v2/logging", [](const RoutedRequest& request) {
    std::map<std::string, LogValue> update;
    read_members(request.exchange->request(),
                 [&](const std::string& name, const dom::element& value) {
                   if (name.starts_with("log_")) update.insert_or_assign(name, log_value(name, value));
                 });
    change([&] { update_log_settings(update); });
    request.exchange->respond(log_settings_response());
  });
}

}  // namespace tenfold::server
