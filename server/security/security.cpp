#include "security/security.h"

#include "net/http_path.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

const std::string kGrpcPrefix = "triton-grpc-protocol-";

HttpResponse denied(const Denial& denial) {
  const bool no_key = denial.kind == Denial::Kind::no_key;
  HttpResponse response{no_key ? 401 : 403, {{"Content-Type", "application/json"}}, {}};
  if (no_key) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  response.body.push_back(body_part("{\"error\":\"" + denial.words + "\"}"));
  return response;
}

}  // namespace

Security::Security(const SecurityOptions& options)
    : http_("http-restricted-api", options.http_restricted), grpc_("grpc-restricted-protocol", options.grpc_restricted) {
  if (!options.api_key_file.empty() || !options.api_key.empty())
    keys_ = std::make_unique<ApiKeys>(options.api_key_file, options.api_key);
  if (options.http_tls) http_tls_ = Tls::open(*options.http_tls, "http/1.1");
  if (options.grpc_tls) grpc_tls_ = Tls::open(*options.grpc_tls, "h2");
}

std::optional<Denial> Security::check(Api api, bool control, const Restrictions& restrictions, const std::string& prefix,
                                      const HeaderLookup& header, bool from_this_machine) const {
  const auto* restricted = restrictions.of(api);
  if (restricted && !same_secret(header(prefix + restricted->first), restricted->second))
    return Denial{Denial::Kind::restricted, std::string(prefix.empty() ? "This API" : "This protocol") +
                                                " is restricted, expecting header '" + prefix + restricted->first + "'"};
  const bool open = api == Api::health || api == Api::metrics;
  if (keys_ && !open && !keys_->accept(header("authorization")))
    return Denial{Denial::Kind::no_key, "this server takes requests with a key only: send 'Authorization: Bearer KEY'"};
  if (control && !from_this_machine && !keys_ && !restricted)
    return Denial{Denial::Kind::remote_control,
                  "loading and unloading models from another machine needs a key: start the server with --api-key-file, or restrict "
                  "model-repository"};
  return std::nullopt;
}

std::optional<HttpResponse> Security::admit_http(const HttpRequest& head, bool from_this_machine) const {
  std::vector<std::string> parts;
  if (auto decoded = path_parts(head.target)) parts = std::move(*decoded);   // another path has no route
  const auto header = [&](std::string_view name) { return head.header(name); };
  const auto denial = check(api_of_path(parts), is_model_control(parts), http_, "", header, from_this_machine);
  if (!denial) return std::nullopt;
  return denied(*denial);
}

std::optional<Denial> Security::admit_grpc(std::string_view path, const HeaderLookup& header, bool from_this_machine) const {
  return check(api_of_method(path), is_model_control(path), grpc_, kGrpcPrefix, header, from_this_machine);
}

std::vector<std::string> Security::reload() {
  std::vector<std::string> words;
  const auto one = [&](const std::string& what, auto* held) {
    if (!held) return;
    try {
      held->reload();
      words.push_back("read " + what + " again");
    } catch (const Error& error) {
      words.push_back(std::string("kept ") + what + " as they were: " + error.what());
    }
  };
  one("API keys", keys_.get());
  one("certificates of HTTP", http_tls_.get());
  one("certificates of gRPC", grpc_tls_.get());
  return words;
}

}  // namespace tenfold::server
