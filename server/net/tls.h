// TLS for both protocols, on OpenSSL, over sockets that never block. Where its package is absent, tls_absent.cpp says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tenfold::server {

struct TlsFiles {
  std::string certificate, key;                  // PEM: the server's, with the certificates between it and its root behind it
  std::string root;                              // PEM: who has signed those of clients
  bool mutual = false;                           // a client must have a certificate
};

enum class TlsResult : std::uint8_t { done, wants_read, wants_write, ended, failed };

// Of one connection. The handshake is a part of its first reads and writes.
class TlsSession {
 public:
  virtual ~TlsSession() = default;
  // `count`: bytes that were read or written, more than 0 where it is done. A write that was not done must be tried again with the same
  // bytes, which may lie elsewhere.
  virtual TlsResult read(void* data, std::size_t size, std::size_t& count) = 0;
  virtual TlsResult write(const void* data, std::size_t size, std::size_t& count) = 0;
  virtual bool pending() const = 0;              // bytes were read from the socket, and not by read()
  virtual void shut_down() = 0;                  // says that no more is sent
};

// The certificates of a port. Thread safe.
class Tls {
 public:
  // `protocol`: as ALPN names it, "h2"; a client that offers others only is refused. Throws Error which names the file.
  static std::shared_ptr<Tls> open(const TlsFiles& files, const std::string& protocol);
  virtual ~Tls() = default;
  // Reads the files again, for connections to come; those that are open go on. Throws Error: then all stays as it was.
  virtual void reload() = 0;
  virtual std::unique_ptr<TlsSession> session(int socket) const = 0;
};

// Of a client on this machine that asks the server with these files whether it is well, over a connected socket. Its certificate is
// not checked, for it may name other hosts; where clients need one, it is theirs, too. Throws Error which names the file.
std::unique_ptr<TlsSession> open_client_session(int socket, const TlsFiles& server);

}  // namespace tenfold::server
