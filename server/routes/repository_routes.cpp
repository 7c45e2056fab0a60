#include "routes/repository_routes.h"

#include <simdjson.h>

#include "observe/json_writer.h"
#include "protocol/json_text.h"

namespace tenfold::server {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

// The body as an object; an empty body is an empty one.
object read(simdjson::dom::parser& parser, const HttpRequest& request) {
  element root;
  object made;
  const std::string_view text = request.size == 0 ? "{}" : request.text();
  if (parser.parse(text).get(root) != simdjson::SUCCESS || root.get(made) != simdjson::SUCCESS)
    refuse("failed to parse the request JSON buffer: expected an object");
  return made;
}

std::string index_json(const std::vector<IndexRow>& rows) {
  JsonList out;
  for (const IndexRow& row : rows) {
    JsonObject json;
    json.add("name", row.name);
    if (!row.version.empty()) json.add("version", row.version);
    if (row.state != ModelState::unknown) json.add("state", name(row.state));
    if (!row.reason.empty()) json.add("reason", row.reason);
    out.add(json);
  }
  return out.text();
}

void index(const std::shared_ptr<Models>& models, const std::shared_ptr<HttpExchange>& exchange) {
  simdjson::dom::parser parser;
  bool ready = false;
  if (element value; read(parser, exchange->request())["ready"].get(value) == simdjson::SUCCESS && value.get(ready) != simdjson::SUCCESS)
    refuse("Unable to parse 'ready': expected true or false");
  exchange->respond(json_response(index_json(model_index(*models, ready))));
}

std::optional<object> parameters_of(const object& body) {
  element member;
  object parameters;
  if (body["parameters"].get(member) != simdjson::SUCCESS) return std::nullopt;
  if (member.get(parameters) != simdjson::SUCCESS) refuse("Unable to parse 'parameters': expected an object");
  return parameters;
}

// What the parameters have for a load: the configuration in place of the file.
std::string config_of(const object& body) {
  std::string config;
  const std::optional<object> parameters = parameters_of(body);
  if (!parameters) return config;
  for (const auto& [key, value] : *parameters) {
    std::string_view text;
    if (key.starts_with("file:"))
      refuse("Load parameter '" + std::string(key.substr(0, 80)) +
             "': this server takes no files by requests; put them into the repository");
    if (key != "config") refuse("Load parameter '" + std::string(key.substr(0, 80)) + "' is not known: there is 'config'");
    if (value.get(text) != simdjson::SUCCESS) refuse("invalid value type for 'config' parameter, expected string_param");
    config = text;
  }
  return config;
}

void check_unload(const object& body) {
  const std::optional<object> parameters = parameters_of(body);
  if (!parameters) return;
  for (const auto& [key, value] : *parameters) {
    bool dependents = false;  // there are no ensembles, so no model depends on another one
    if (key != "unload_dependents")
      refuse("Unload parameter '" + std::string(key.substr(0, 80)) + "' is not known: there is 'unload_dependents'");
    if (value.get(dependents) != simdjson::SUCCESS) refuse("Unable to parse 'unload_dependents': expected true or false");
  }
}

void control(const std::shared_ptr<Models>& models, const RoutedRequest& request, bool load) {
  simdjson::dom::parser parser;
  const object body = read(parser, request.exchange->request());
  const std::string config = load ? config_of(body) : "";
  if (!load) check_unload(body);
  ModelControl& control = model_control(*models);
  const auto done = [exchange = request.exchange](const Status& status) {
    exchange->respond(status ? HttpResponse{200, {{"Content-Type", "application/json"}}, {}} : error_response(status.code, status.message));
  };
  if (load)
    control.load(request.at("model"), config, done);
  else
    control.unload(request.at("model"), done);
}

}  // namespace

void add_repository_routes(Router& router, std::shared_ptr<Models> models) {
  RouteFamily family = router.family(error_response);
  for (const std::string base : {"/v2/repository", "/v2/repository/{repository}"}) {
    const auto refuse_named = [](const RoutedRequest& request) {
      if (!request.get("repository").empty()) throw RequestError(Code::unsupported, "'repository_name' specification is not supported");
    };
    family.add("POST", base + "/index",
               [models, refuse_named](const RoutedRequest& request) { refuse_named(request), index(models, request.exchange); });
    for (const bool load : {true, false})
      family.add("POST", base + "/models/{model}/" + (load ? "load" : "unload"),
                 [models, refuse_named, load](const RoutedRequest& request) { refuse_named(request), control(models, request, load); });
  }
}

}  // namespace tenfold::server
