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

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& parts, RoutedRequest& request) {
  request.path.clear();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == "**") return true;         // and what lies below
    if (i >= parts.size()) return false;
    if (pattern[i].starts_with('{')) request.path[pattern[i].substr(1, pattern[i].size() - 2)] = parts[i];
    else if (pattern[i] != parts[i]) return false;
  }
  return pattern.size() == parts.size();
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
    if (!fits(route.pattern, parts, request)) continue;
    if (has_method(route, exchange->request().method)) return call(route, request);
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

HttpHandler Router::handler() {
  return [routes = std::make_shared<const std::vector<Route>>(std::move(routes_))](const std::shared_ptr<HttpExchange>& exchange) {
    try {
      answer(*routes, exchange);
    } catch (const RequestError& error) {          // a path that cannot be decoded
      exchange->respond(error_response(error.code, error.what()));
    }
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
