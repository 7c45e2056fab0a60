// Security: who may ask what, by keys, restricted families and certificates; and reading all of them again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"
#include "net/tls.h"
#include "security/api_keys.h"
#include "security/restrictions.h"

namespace tenfold::server {

struct SecurityOptions {
  std::string api_key_file, api_key;             // empty: none
  std::vector<std::string> http_restricted, grpc_restricted;
  std::optional<TlsFiles> http_tls, grpc_tls;
};

// Why a request is not admitted.
struct Denial {
  enum class Kind : std::uint8_t { no_key, restricted, remote_control } kind = Kind::no_key;
  std::string words;
};
using HeaderLookup = std::function<std::string_view(std::string_view name)>;

// Thread safe.
class Security {
 public:
  explicit Security(const SecurityOptions& options);   // reads all files. Throws Error
  // A response where the request is refused. Before its body is read.
  std::optional<HttpResponse> admit_http(const HttpRequest& head, bool from_this_machine) const;
  std::optional<Denial> admit_grpc(std::string_view path, const HeaderLookup& header, bool from_this_machine) const;
  std::shared_ptr<const Tls> http_tls() const { return http_tls_; }
  std::shared_ptr<const Tls> grpc_tls() const { return grpc_tls_; }
  // Reads keys and certificates again. What cannot be read stays as it was: the words say which.
  std::vector<std::string> reload();

 private:
  std::optional<Denial> check(Api api, bool control, const Restrictions& restrictions, const std::string& prefix,
                              const HeaderLookup& header, bool from_this_machine) const;

  std::unique_ptr<ApiKeys> keys_;
  Restrictions http_, grpc_;
  std::shared_ptr<Tls> http_tls_, grpc_tls_;
};

}  // namespace tenfold::server
