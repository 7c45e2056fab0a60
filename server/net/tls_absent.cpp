// In place of tls.cpp where the package of OpenSSL is absent (server/CMakeLists.txt).
#include "net/tls.h"

#include "tenfold/error.h"

namespace tenfold::server {

std::shared_ptr<Tls> Tls::open(const TlsFiles&, const std::string&) {
  throw Error(ErrorKind::unsupported,
              "this tenfold-server was built without TLS, for libssl-dev was absent: install it (script/bootstrap) and build again, "
              "or put a proxy in front of it");
}

}  // namespace tenfold::server
