// In place of tls.cpp where the package of OpenSSL is absent (server/CMakeLists.txt).
#include "net/tls.h"

#include "tenfold/error.h"

namespace tenfold::server {

namespace {

[[noreturn]] void fail() {
  throw Error(ErrorKind::unsupported,
              "this tenfold-server was built without TLS, for libssl-dev was absent: install it (script/bootstrap) and build again, "
              "or put a proxy in front of it");
}

}  // namespace

std::shared_ptr<Tls> Tls::open(const TlsFiles&, const std::string&) { fail(); }
std::unique_ptr<TlsSession> open_client_session(int, const TlsFiles&) { fail(); }

}  // namespace tenfold::server
