// Acceptors, and the threads that all connections share.
#include "net/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <future>
#include <thread>

#include "net/http_connection.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// For connections of which a request is on its way when the server ends.
constexpr std::chrono::milliseconds kLastRequests{100};

[[noreturn]] void fail(const std::string& address, std::uint16_t port, const ErrorCode& error) {
  throw Error(ErrorKind::io, "cannot listen on " + address + ", port " + std::to_string(port) + ": " + error.message() +
                                 (error == asio::error::address_in_use ? "; choose another port" : ""));
}

// Accepts until it is closed. Where descriptors are exhausted it waits a little.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(asio::io_context& io, std::shared_ptr<const HttpPort> port)
      : io_(io), acceptor_(asio::make_strand(io)), pause_(io), port_(std::move(port)) {}

  std::uint16_t open(const std::string& address, std::uint16_t number) {
    ErrorCode error;
    const asio::ip::address at = asio::ip::make_address(address == "localhost" ? "127.0.0.1" : address, error);
    if (error) throw Error(ErrorKind::invalid_argument, "'" + address + "' is no address: give one such as 127.0.0.1, 0.0.0.0 or ::");
    const tcp::endpoint endpoint(at, number);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) fail(address, number, error);
    return acceptor_.local_endpoint().port();
  }
  std::uint16_t open(int socket) {
    ErrorCode error;
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
    acceptor_.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), socket, error);
    if (error) {
      ::close(socket);
      throw Error(ErrorKind::io, "the socket " + std::to_string(socket) + " cannot be listened on: " + error.message());
    }
    return acceptor_.local_endpoint().port();
  }
  void accept() {
    acceptor_.async_accept(asio::make_strand(io_), [self = shared_from_this()](ErrorCode error, tcp::socket socket) {
      if (!error) self->take(std::move(socket));
      if (!self->acceptor_.is_open()) return self->closed_.set_value();
      if (!error) return self->accept();
      self->pause_.expires_after(std::chrono::milliseconds(50));
      self->pause_.async_wait([self](ErrorCode) { self->accept(); });
    });
  }
  // `rest`: what the system has accepted is taken first. Returns when nothing more comes.
  void close(bool rest) {
    if (closing_) return;
    closing_ = true;
    asio::post(acceptor_.get_executor(), [self = shared_from_this(), rest] {
      if (rest) self->take_rest();
      ErrorCode ignored;
      self->acceptor_.close(ignored);
      self->pause_.cancel();
    });
    closed_.get_future().wait();
  }

 private:
  void take_rest() {
    ErrorCode error;
    acceptor_.non_blocking(true, error);
    for (int i = 0; i < asio::socket_base::max_listen_connections && !error; ++i) {
      tcp::socket socket = acceptor_.accept(asio::make_strand(io_), error);
      if (!error) take(std::move(socket));
    }
  }
  void take(tcp::socket socket) {
    if (port_->open->count < port_->limits.connections) return start_connection(std::move(socket), port_);
    static constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    ErrorCode ignored;
    socket.non_blocking(true, ignored);
    socket.send(asio::buffer(kFull), 0, ignored);
  }

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::shared_ptr<const HttpPort> port_;
  std::promise<void> closed_;
  bool closing_ = false;
};

}  // namespace

void OpenConnections::add(const std::shared_ptr<HttpConnection>& connection) {
  const std::lock_guard lock(mutex_);
  connections_.emplace(connection.get(), connection);
}
void OpenConnections::remove(const HttpConnection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
}
std::vector<std::shared_ptr<HttpConnection>> OpenConnections::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<HttpConnection>> all;
  for (const auto& [key, weak] : connections_)
    if (auto connection = weak.lock()) all.push_back(std::move(connection));
  return all;
}

struct HttpServer::Impl {
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::shared_ptr<OpenConnections> open = std::make_shared<OpenConnections>();
  std::vector<std::shared_ptr<Acceptor>> acceptors;
  std::vector<std::thread> threads;

  std::shared_ptr<Acceptor> make_acceptor(HttpHandler handler, HttpLimits limits) {
    return std::make_shared<Acceptor>(io, std::make_shared<const HttpPort>(HttpPort{std::move(handler), limits, open}));
  }
  void start(std::shared_ptr<Acceptor> acceptor) {
    acceptor->accept();
    acceptors.push_back(std::move(acceptor));
  }
  bool wait_until(std::chrono::steady_clock::time_point time) {
    while (open->count > 0 && std::chrono::steady_clock::now() < time) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return open->count == 0;
  }
};

HttpServer::HttpServer(int threads) : impl_(std::make_unique<Impl>()) {
  for (int i = 0; i < std::max(threads, 1); ++i) impl_->threads.emplace_back([this] { impl_->io.run(); });
}

HttpServer::~HttpServer() { stop(std::chrono::milliseconds(0)); }

std::uint16_t HttpServer::listen(const std::string& address, std::uint16_t port, HttpHandler handler, HttpLimits limits) {
  auto acceptor = impl_->make_acceptor(std::move(handler), limits);
  const std::uint16_t opened = acceptor->open(address, port);
  impl_->start(std::move(acceptor));
  return opened;
}

std::uint16_t HttpServer::listen(int socket, HttpHandler handler, HttpLimits limits) {
  auto acceptor = impl_->make_acceptor(std::move(handler), limits);
  const std::uint16_t opened = acceptor->open(socket);
  impl_->start(std::move(acceptor));
  return opened;
}

void HttpServer::stop_accepting() {
  for (const auto& acceptor : impl_->acceptors) acceptor->close(false);
}

bool HttpServer::finish_connections(std::chrono::milliseconds patience) {
  impl_->open->finishing = true;
  return impl_->wait_until(std::chrono::steady_clock::now() + patience);
}

bool HttpServer::stop(std::chrono::milliseconds patience) {
  if (impl_->threads.empty()) return true;
  const auto until = std::chrono::steady_clock::now() + patience;
  impl_->open->finishing = true;
  for (const auto& acceptor : impl_->acceptors) acceptor->close(true);
  impl_->wait_until(std::min(until, std::chrono::steady_clock::now() + kLastRequests));
  impl_->open->stopping = true;
  for (const auto& connection : impl_->open->all()) connection->close_if_idle();
  const bool all_closed = impl_->wait_until(until);
  impl_->work.reset();
  impl_->io.stop();
  for (std::thread& thread : impl_->threads) thread.join();
  impl_->threads.clear();
  return all_closed;
}

}  // namespace tenfold::server
