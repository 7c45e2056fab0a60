#include "routes/router.h"

#include <algorithm>

#include "protocol/json_text.h"

namespace tenfold::server {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The parts of a path between slashes, without the query, decoded. Throws RequestError for a '%' without two digits.
std::vector<std::string> parts_of(std::string_view target) {
  target = target.substr(0, target.find('?'));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == '/') {
      parts.emplace_back();
    } else if (parts.empty()) {
      throw RequestError(Code::invalid_argument, "the target of the request is no path: it must begin with '/'");
    } else if (target[i] != '%') {
      parts.back() += target[i];
    } else {
      const int high = i + 2 < target.size() ? hex_digit(target[i + 1]) : -1, low = high >= 0 ? hex_digit(target[i + 2]) : -1;
      if (low < 0) throw RequestError(Code::invalid_argument, "the path has a '%' without two hexadecimal digits behind it");
      parts.back() += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (!parts.empty() && parts.back().empty()) parts.pop_back();   // a slash at the end
  return parts;
}

// What a path names. An action is what stands behind a model: "infer", "config"; empty: its metadata.
struct Path {
  std::string model, version, action;
  bool of_model = false;
};

Path path_of(const std::vector<std::string>& parts) {
  Path path{"", "", "", true};
  if (parts.size() > 2) path.model = parts[2];
  std::size_t at = 3;
  if (parts.size() > 4 && parts[3] == "versions") path.version = parts[4], at = 5;
  for (; at < parts.size(); ++at) path.action += (path.action.empty() ? "" : "/") + parts[at];
  return path;
}

// Endpoints of Triton's that this server does not have.
void refuse_by_name(const std::string& action) {
  for (const char* name : {"generate", "generate_stream", "trace/setting", "load", "unload"})
    if (action == name)
      throw RequestError(Code::unsupported, "this server has no '" + std::string(name) +
                                                "': serve the model by Triton and libtriton_tenfold.so");
}

bool method_is(const HttpExchange& exchange, std::string_view allowed) {
  const std::string& method = exchange.request().method;
  return method == allowed || (allowed == "GET" && method == "HEAD");
}

HttpResponse wrong_method(const std::string& allowed) {
  HttpResponse response = json_response(json_error("Method Not Allowed: send " + allowed), 405);
  response.headers.emplace_back("Allow", allowed == "GET" ? "GET, HEAD" : allowed);
  return response;
}

HttpResponse not_found(const HttpExchange& exchange) {
  return json_response(json_error("there is no " + exchange.request().target.substr(0, 200)), 404);
}

HttpResponse health(bool ok, const char* what, const std::string& model = "") {
  HttpResponse response = json_response("{" + (model.empty() ? "" : "\"name\":" + json_string(model) + ",") + "\"" + what +
                                            (ok ? "\":true}" : "\":false}"), ok ? 200 : 503);
  if (!ok) response.headers.emplace_back("Retry-After", "1");
  return response;
}

void route_model(const std::shared_ptr<Models>& models, const Path& path, const std::shared_ptr<HttpExchange>& exchange) {
  refuse_by_name(path.action);
  if (path.action == "infer")
    return method_is(*exchange, "POST") ? infer_route(models, path.model, path.version, exchange) : exchange->respond(wrong_method("POST"));
  if (path.action != "" && path.action != "ready" && path.action != "config" && path.action != "stats")
    return exchange->respond(not_found(*exchange));
  if (!method_is(*exchange, "GET")) return exchange->respond(wrong_method("GET"));
  const std::shared_ptr<Model> model = models->find(path.model, path.version);
  if (path.action == "ready") return exchange->respond(health(models->ready(), "ready", model->name()));
  if (path.action == "config") return exchange->respond(model_config(*model));
  if (path.action == "stats") return exchange->respond(model_statistics({model}));
  exchange->respond(model_metadata(*models, *model));
}

void route(const std::shared_ptr<Models>& models, const std::shared_ptr<HttpExchange>& exchange) {
  const std::vector<std::string> parts = parts_of(exchange->request().target);
  const auto is = [&](std::initializer_list<std::string_view> path) { return std::equal(parts.begin(), parts.end(), path.begin(),
      path.end()); };
  std::function<HttpResponse()> answer;
  if (is({"v2"})) answer = server_metadata;
  else if (is({"v2", "health", "live"})) answer = [] { return health(true, "live"); };
  else if (is({"v2", "health", "ready"})) answer = [&] { return health(models->ready(), "ready"); };
  else if (is({"v2", "models", "stats"})) answer = [&] { return model_statistics(models->all()); };
  else if (is({"metrics"})) answer = [&] { return metrics(*models); };
  if (answer) return exchange->respond(method_is(*exchange, "GET") ? answer() : wrong_method("GET"));
  if (parts.size() >= 3 && parts[0] == "v2" && parts[1] == "models") return route_model(models, path_of(parts), exchange);
  if (parts.size() >= 2 && parts[0] == "v2" && (parts[1] == "repository" || parts[1] == "logging" || parts[1] == "trace" ||
                                                parts[1] == "systemsharedmemory" || parts[1] == "cudasharedmemory"))
    throw RequestError(Code::unsupported, "this server has no /v2/" + parts[1] + ": serve the model by Triton and libtriton_tenfold.so");
  exchange->respond(not_found(*exchange));
}

HttpHandler guarded(void (*route)(const std::shared_ptr<Models>&, const std::shared_ptr<HttpExchange>&), std::shared_ptr<Models> models) {
  return [route, models = std::move(models)](const std::shared_ptr<HttpExchange>& exchange) {
    try {
      route(models, exchange);
    } catch (const RequestError& error) {
      exchange->respond(error_response(error.code, error.what()));
    }
  };
}

void route_metrics(const std::shared_ptr<Models>& models, const std::shared_ptr<HttpExchange>& exchange) {
  if (parts_of(exchange->request().target) != std::vector<std::string>{"metrics"}) return exchange->respond(not_found(*exchange));
  exchange->respond(method_is(*exchange, "GET") ? metrics(*models) : wrong_method("GET"));
}

}  // namespace

int http_status(Code code) {
  switch (code) {
    case Code::ok: return 200;
    case Code::not_found: return 404;
    case Code::unavailable: return 503;
    case Code::unsupported: return 501;
    case Code::internal: return 500;
    case Code::deadline: return 504;
    default: return 400;
  }
}

HttpResponse json_response(std::string json, int status) {
  HttpResponse response{status, {{"Content-Type", "application/json"}}, {}};
  response.body.push_back(body_part(std::move(json)));
  return response;
}

HttpResponse error_response(Code code, std::string_view message) {
  HttpResponse response = json_response(json_error(message), http_status(code));
  if (response.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpHandler make_router(std::shared_ptr<Models> models) { return guarded(route, std::move(models)); }
HttpHandler make_metrics_router(std::shared_ptr<Models> models) { return guarded(route_metrics, std::move(models)); }

}  // namespace tenfold::server
