#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <mutex>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

struct FreeContext {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const { ::SSL_free(session); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;

std::string why() {
  const unsigned long code = ::ERR_peek_last_error();
  const char* words = ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return words ? words : "OpenSSL does not say why";
}

[[noreturn]] void fail(const std::string& what, const std::string& file, const std::string& expected) {
  throw Error(ErrorKind::io, "TLS: cannot use the " + what + " '" + file + "': " + why() + "; " + expected + " is expected");
}

// An alert, where the client offers protocols and none is the port's.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered, unsigned int count,
                    void* protocol) {
  const auto& name = *static_cast<const std::string*>(protocol);   // behind its length, as offers have it
  unsigned char* chosen = nullptr;
  const int found = ::SSL_select_next_proto(&chosen, size, reinterpret_cast<const unsigned char*>(name.data()),
                                            static_cast<unsigned int>(name.size()), offered, count);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

class OpenSession final : public TlsSession {
 public:
  OpenSession(SSL_CTX* context, int socket, bool is_client = false) : session_(::SSL_new(context)) {
    if (!session_ || !::SSL_set_fd(session_.get(), socket)) throw std::bad_alloc();
    if (is_client) ::SSL_set_connect_state(session_.get());
    else ::SSL_set_accept_state(session_.get());
  }
  TlsResult read(void* data, std::size_t size, std::size_t& count) override {
    ::ERR_clear_error();
    return result(::SSL_read_ex(session_.get(), data, size, &count));
  }
  TlsResult write(const void* data, std::size_t size, std::size_t& count) override {
    ::ERR_clear_error();
    return result(::SSL_write_ex(session_.get(), data, size, &count));
  }
  bool pending() const override { return ::SSL_pending(session_.get()) > 0; }
  void shut_down() override {
    // Not in the middle of a handshake, nor after an error.
    if (!failed_ && ::SSL_is_init_finished(session_.get())) ::SSL_shutdown(session_.get());
    ::ERR_clear_error();
  }

 private:
  TlsResult result(int done) {
    if (done > 0) return TlsResult::done;
    switch (::SSL_get_error(session_.get(), done)) {
      case SSL_ERROR_WANT_READ: return TlsResult::wants_read;
      case SSL_ERROR_WANT_WRITE: return TlsResult::wants_write;
      case SSL_ERROR_ZERO_RETURN: return TlsResult::ended;
      default: failed_ = true; return TlsResult::failed;
    }
  }

  std::unique_ptr<SSL, FreeSession> session_;
  bool failed_ = false;
};

// The certificate and its key.
void use_files(SSL_CTX* context, const TlsFiles& files) {
  if (::SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
    fail("certificate", files.certificate, "a PEM file");
  if (::SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1 || ::SSL_CTX_check_private_key(context) != 1)
    fail("key", files.key, "the certificate's private key as a PEM file without a password");
}

class OpenTls final : public Tls {
 public:
  OpenTls(const TlsFiles& files, const std::string& protocol)
      : files_(files), protocol_(static_cast<char>(protocol.size()) + protocol), context_(make()) {}
  void reload() override {
    Context made = make();
    const std::lock_guard lock(mutex_);
    context_ = std::move(made);                  // sessions keep theirs
  }
  std::unique_ptr<TlsSession> session(int socket) const override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<OpenSession>(context_.get(), socket);
  }

 private:
  Context make() const {
    Context context(::SSL_CTX_new(::TLS_server_method()));
    if (!context) throw std::bad_alloc();
    SSL_CTX* c = context.get();
    ::SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
    ::SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // A connection at rest has no buffers; what is written may be less than was given, and may move until it is tried again.
    ::SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    ::SSL_CTX_set_alpn_select_cb(c, choose_protocol, const_cast<std::string*>(&protocol_));
    use_files(c, files_);
    if (!files_.mutual) return context;
    if (::SSL_CTX_load_verify_locations(c, files_.root.c_str(), nullptr) != 1)
      fail("root certificate", files_.root, "a PEM file");
    ::SSL_CTX_set_client_CA_list(c, ::SSL_load_client_CA_file(files_.root.c_str()));
    ::SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    static constexpr unsigned char kName[] = "tenfold";   // without one, clients with certificates cannot resume a session
    ::SSL_CTX_set_session_id_context(c, kName, sizeof kName - 1);
    return context;
  }

  const TlsFiles files_;
  const std::string protocol_;
  mutable std::mutex mutex_;
  Context context_;
};

}  // namespace

std::shared_ptr<Tls> Tls::open(const TlsFiles& files, const std::string& protocol) {
  return std::make_shared<OpenTls>(files, protocol);
}

std::unique_ptr<TlsSession> open_client_session(int socket, const TlsFiles& server) {
  const Context context(::SSL_CTX_new(::TLS_client_method()));
  if (!context) throw std::bad_alloc();
  if (server.mutual) use_files(context.get(), server);
  return std::make_unique<OpenSession>(context.get(), socket, true);   // which keeps the context
}

}  // namespace tenfold::server
