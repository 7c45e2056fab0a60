#include "net/acceptor.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
constexpr std::chrono::milliseconds kPause{50};
constexpr rlim_t kReserve = 16;                    // descriptors that connections do not get

tcp protocol_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
}

}  // namespace

Acceptor::Acceptor(const asio::any_io_executor& executor, int socket, Host host)
    : acceptor_(executor), pause_(executor), host_(std::move(host)) {
  ErrorCode error;
  acceptor_.assign(protocol_of(socket), socket, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (error) throw Error(ErrorKind::io, "descriptor " + std::to_string(socket) + " is no socket that listens: " + error.message());
}

void Acceptor::start() {
  asio::post(acceptor_.get_executor(), [self = shared_from_this()] { self->accept(); });
}

void Acceptor::accept() {
  if (!acceptor_.is_open()) return end();
  acceptor_.async_accept(host_.next(), [self = shared_from_this()](ErrorCode error, tcp::socket socket) {
    if (!error) self->take(std::move(socket));   // also one that was accepted as this closed
    if (!self->acceptor_.is_open()) return self->end();
    if (!error || error == asio::error::connection_aborted) return self->accept();
    self->pause_.expires_after(kPause);
    self->pause_.async_wait([self](ErrorCode) { self->accept(); });
  });
}

// The system gives the lowest free number, so a high one says that those below are taken.
void Acceptor::take(tcp::socket socket) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(socket.native_handle()) + kReserve >= limit.rlim_cur) return;
  host_.take(std::move(socket));
}

void Acceptor::end() {
  if (!std::exchange(ended_, true)) closed_.set_value();
}

void Acceptor::take_rest() {
  ErrorCode error;
  for (int i = 0; i < asio::socket_base::max_listen_connections; ++i) {
    tcp::socket socket = acceptor_.accept(host_.next(), error);
    if (error) return;
    take(std::move(socket));
  }
}

void Acceptor::close(bool rest) {
  if (closing_.exchange(true)) return;
  asio::post(acceptor_.get_executor(), [self = shared_from_this(), rest] {
    ErrorCode ignored;
    if (rest) self->take_rest();
    self->acceptor_.close(ignored);
    self->pause_.cancel();
  });
  closed_.get_future().wait();
}

}  // namespace tenfold::server
