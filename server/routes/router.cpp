#include "routes/router.h"

#include <algorithm>

#include "net/http_path.h"
#include "protocol/json_text.h"

namespace tenfold::server {
namespace {

std::vector<std::string> parts_of(std::string_view target) {
  std::string why;
  auto parts = path_parts(target, &why);
  if (!parts) throw RequestError(Code::invalid_argument, why);
  return std::move(*parts);
}

// From the last part on, in which patterns differ most.
bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& parts) {
  const bool below = !pattern.empty() && pattern.back() == "**";   // and what lies below
  const std::size_t count = pattern.size() - (below ? 1 : 0);
  if (below ? parts.size() < count : parts.size() != count) return false;
  for (std::size_t i = count; i-- > 0;)
    if (pattern[i].starts_with('{') ? parts[i].empty() : pattern[i] != parts[i]) return false;
  return true;
}

void take_names(const std::vector<std::string>& pattern, const std::vector<std::string>& parts, RoutedRequest& request) {
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i].starts_with('{')) request.path[pattern[i].substr(1, pattern[i].size() - 2)] = parts[i];
}

bool has_method(const Route& route, const std::string& method) {
  return route.method == method || route.method == "*" || (route.method == "GET" && method == "HEAD");
}

HttpResponse wrong_method(const std::vector<std::string>& methods) {
  std::string sent, allowed;
  for (const std::string& method : methods) {
    sent += (sent.empty() ? "" : " or ") + method;
    allowed += (allowed.empty() ? "" : ", ") + method + (method == "GET" ? ", HEAD" : "");
  }
  HttpResponse response = json_response(json_error("Method Not Allowed: send " + sent), 405);
  response.headers.emplace_back("Allow", allowed);
  return response;
}

void call(const Route& route, const RoutedRequest& request) {
  try {
    route.handle(request);
  } catch (const RequestError& error) {
    request.exchange->respond(route.error(error.code, error.what()));
  }
}

void answer(const std::vector<Route>& routes, const std::shared_ptr<HttpExchange>& exchange) {
  RoutedRequest request{exchange, {}};
  const std::vector<std::string> parts = parts_of(exchange->request().target);
  std::vector<std::string> methods;              // that the path has
  for (const Route& route : routes) {
    if (!fits(route.pattern, parts)) continue;
    if (has_method(route, exchange->request().method)) {
      take_names(route.pattern, parts, request);
      return call(route, request);
    }
    if (std::find(methods.begin(), methods.end(), route.method) == methods.end()) methods.push_back(route.method);
  }
  if (!methods.empty()) return exchange->respond(wrong_method(methods));
  exchange->respond(json_response(json_error("there is no " + exchange->request().target.substr(0, 200)), 404));
}

}  // namespace

void RouteFamily::add(std::string method, std::string_view pattern, RouteHandler handle) {
  routes_.push_back({std::move(method), parts_of(pattern), std::move(handle), error_});
}

void RouteFamily::get(std::string_view pattern, std::function<HttpResponse(const RoutedRequest&)> answer) {
  add("GET", pattern, [answer = std::move(answer)](const RoutedRequest& request) { request.exchange->respond(answer(request)); });
}

void RouteFamily::refuse(std::string_view pattern, const std::string& message) {
  add("*", std::string(pattern) + "/**", [message](const RoutedRequest&) { throw RequestError(Code::unsupported, message); });
}

std::vector<std::string> Router::shown() const {
  std::vector<std::string> shown;
  for (const Route& route : routes_) {
    shown.push_back(route.method + " ");
    for (const std::string& part : route.pattern) shown.back() += "/" + part;
    if (route.pattern.empty()) shown.back() += "/";
  }
  return shown;
}

HttpHandler Router::handler() {
  return [routes = std::make_shared<const std::vector<Route>>(std::move(routes_))](const std::shared_ptr<HttpExchange>& exchange) {
    try {
      answer(*routes, exchange);
    } catch (const RequestError& error) {          // a path that cannot be decoded
      exchange->respond(error_response(error.code, error.what()));
    }
  };
}

std::function<HttpResponse(const HttpRequest&, const std::string&)> Router::overloaded() const {
  return [routes = routes_](const HttpRequest& head, const std::string& why) {
    if (const auto parts = path_parts(head.target))
      for (const Route& route : routes)
        if (fits(route.pattern, *parts)) return route.error(Code::unavailable, why);
    return error_response(Code::unavailable, why);
  };
}

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

}  // namespace tenfold::server
