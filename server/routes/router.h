// Which code answers a request, by its path and method.
//
//   Router router;
//   RouteFamily v2 = router.family(error_response);
//   v2.add("GET", "/v2/models/{model}/stats", [models](const RoutedRequest& request) { ... });
//   server.listen(address, port, router.handler());
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "net/http_message.h"

namespace tenfold::server {

// A request, and what stands in its path where the pattern has names in braces; decoded.
struct RoutedRequest {
  std::shared_ptr<HttpExchange> exchange;
  std::map<std::string, std::string, std::less<>> path;
  const std::string& at(std::string_view name) const { return path.find(name)->second; }
  std::string get(std::string_view name) const {   // empty: the pattern does not have it
    const auto found = path.find(name);
    return found == path.end() ? "" : found->second;
  }
};
using RouteHandler = std::function<void(const RoutedRequest&)>;
// How a family of routes words an error in its responses.
using ErrorResponse = HttpResponse (*)(Code code, std::string_view message);

struct Route {
  std::string method;
  std::vector<std::string> pattern;              // between slashes; "{name}" is any part
  RouteHandler handle;
  ErrorResponse error;
};

class RouteFamily {
 public:
  RouteFamily(std::vector<Route>& routes, ErrorResponse error) : routes_(routes), error_(error) {}
  // Of two patterns that fit, the first that was added is taken. A handler may throw RequestError. GET is HEAD, too.
  void add(std::string method, std::string_view pattern, RouteHandler handle);
  // A GET that is answered at once.
  void get(std::string_view pattern, std::function<HttpResponse(const RoutedRequest&)> answer);
  // Triton's endpoints that this server does not have: any method, and what lies below. Clients are told what does.
  void refuse(std::string_view pattern, const std::string& message);

 private:
  std::vector<Route>& routes_;
  ErrorResponse error_;
};

class Router {
 public:
  RouteFamily family(ErrorResponse error) { return {routes_, error}; }
  // What answers a request for which there is no memory: as its route's family words Code::unavailable. Before handler().
  std::function<HttpResponse(const HttpRequest& head, const std::string& why)> overloaded() const;
  std::vector<std::string> shown() const;        // "GET /v2/models/{model}": each route, before handler()
  HttpHandler handler();                         // takes the routes

 private:
  std::vector<Route> routes_;
};

int http_status(Code code);
HttpResponse json_response(std::string json, int status = 200);
HttpResponse error_response(Code code, std::string_view message);   // as v2 has errors

}  // namespace tenfold::server
