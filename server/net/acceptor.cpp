#include "net/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
constexpr std::chrono::milliseconds kPause{50};

tcp protocol_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
}

int open_spare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

Acceptor::Acceptor(const asio::any_io_executor& executor, int socket, Host host)
    : acceptor_(executor), pause_(executor), host_(std::move(host)), spare_(open_spare()) {
  ErrorCode error;
  acceptor_.assign(protocol_of(socket), socket, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (error) throw Error(ErrorKind::io, "descriptor " + std::to_string(socket) + " is no socket that listens: " + error.message());
}

Acceptor::~Acceptor() {
  if (spare_ >= 0) ::close(spare_);
}

void Acceptor::start() {
  asio::post(acceptor_.get_executor(), [self = shared_from_this()] { self->accept(); });
}

void Acceptor::accept() {
  if (!acceptor_.is_open()) return end();
  acceptor_.async_accept(host_.next(), [self = shared_from_this()](ErrorCode error, tcp::socket socket) {
    if (!error) self->host_.take(std::move(socket));   // also one that was accepted as this closed
    if (!self->acceptor_.is_open()) return self->end();
    const bool exhausted = error == asio::error::no_descriptors || error == boost::system::errc::too_many_files_open_in_system;
    if (!error || error == asio::error::connection_aborted || (exhausted && self->refuse_one())) return self->accept();
    self->pause_.expires_after(kPause);
    self->pause_.async_wait([self](ErrorCode) { self->accept(); });
  });
}

// false: there was none, or the descriptor for the next time could not be had again.
bool Acceptor::refuse_one() {
  if (spare_ < 0) spare_ = open_spare();
  if (spare_ < 0) return false;
  ::close(spare_);
  const int refused = ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
  if (refused >= 0) ::close(refused);
  spare_ = open_spare();
  return refused >= 0 && spare_ >= 0;
}

void Acceptor::end() {
  if (!std::exchange(ended_, true)) closed_.set_value();
}

void Acceptor::take_rest() {
  ErrorCode error;
  for (int i = 0; i < asio::socket_base::max_listen_connections; ++i) {
    tcp::socket socket = acceptor_.accept(host_.next(), error);
    if (error) return;
    host_.take(std::move(socket));
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
