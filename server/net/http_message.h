// A request over HTTP and its response, as routes see them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenfold::server {

struct HttpRequest {
  std::string method, target;                    // "POST", "/v2/models/mlp/infer?x=1"
  std::vector<std::pair<std::string, std::string>> headers;   // names in lower case
  // What was sent, decompressed. Behind its `size` bytes lie kBodyPadding more, which JSON parsers read.
  std::shared_ptr<const std::byte[]> body;
  std::size_t size = 0;
  std::string_view header(std::string_view name) const {   // empty: it is not there
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
  std::string_view text() const { return {reinterpret_cast<const char*>(body.get()), size}; }
  std::span<const std::byte> bytes() const { return {body.get(), size}; }
};
inline constexpr std::size_t kBodyPadding = 64;

// A part of a response's body, with what keeps it.
struct BodyPart {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};
BodyPart body_part(std::string text);

struct HttpResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;   // Content-Length and Connection are the connection's own
  std::vector<BodyPart> body;
  bool no_compression = false;                   // also for a client that accepts it
};

// One request that waits for its response. One of the two respond functions is called, once, from any thread.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual const HttpRequest& request() const = 0;
  // Has the response made in a thread of the connection's. What `make` throws is answered with 500.
  virtual void respond_by(std::function<HttpResponse()> make) = 0;
  void respond(HttpResponse response) {
    respond_by([held = std::make_shared<HttpResponse>(std::move(response))] { return std::move(*held); });
  }
  // Has `gone` called if the client leaves before the response; at once if it has left.
  virtual void when_gone(std::function<void()> gone) = 0;
};
using HttpHandler = std::function<void(std::shared_ptr<HttpExchange>)>;

}  // namespace tenfold::server
