// Acceptors, and the threads that connections are dealt out to.
#include "net/http_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <algorithm>
#include <thread>

#include "net/acceptor.h"
#include "net/http_connection.h"
#include "net/listen_socket.h"
#include "tenfold/internal/processor_slice.h"

namespace tenfold::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// For connections of which a request is on its way when the server ends.
constexpr std::chrono::milliseconds kLastRequests{100};

void take(tcp::socket socket, const std::shared_ptr<const HttpPort>& port) {
  if (*port->count < port->options.limits.connections) return start_connection(std::move(socket), port);
  if (port->options.tls) return;                 // which closes it: nothing can be said before a handshake
  static constexpr std::string_view kFull =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  socket.send(asio::buffer(kFull), 0, ignored);
}

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
  // A thread's connections. They stay in it: a shared queue would wake another thread at each step of a request.
  struct Loop {
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  };
  std::vector<std::unique_ptr<Loop>> loops;
  std::atomic<std::size_t> next = 0;             // loop that gets a connection
  std::shared_ptr<OpenConnections> open = std::make_shared<OpenConnections>();
  std::vector<std::shared_ptr<Acceptor>> acceptors;
  std::vector<std::thread> threads;

  void close_acceptors(bool rest) {
    for (const auto& acceptor : acceptors) acceptor->close(rest);
    acceptors.clear();
  }
  bool wait_until(std::chrono::steady_clock::time_point time) const {
    while (open->count > 0 && std::chrono::steady_clock::now() < time) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return open->count == 0;
  }
};

HttpServer::HttpServer(int threads) : impl_(std::make_unique<Impl>()) {
  for (int i = 0; i < std::max(threads, 1); ++i) {
    Impl::Loop& loop = *impl_->loops.emplace_back(std::make_unique<Impl::Loop>());
    impl_->threads.emplace_back([&loop] {
      set_processor_slice(0, kShortSlice);
      loop.io.run();
    });
  }
}

HttpServer::~HttpServer() { stop(std::chrono::milliseconds(0)); }

std::uint16_t HttpServer::listen(const std::string& address, std::uint16_t port, HttpHandler handler, HttpPortOptions options) {
  return listen(open_listen_socket(address, port), std::move(handler), std::move(options));
}

std::uint16_t HttpServer::listen(int socket, HttpHandler handler, HttpPortOptions options) {
  if (options.budget) options.limits.body_bytes = std::min(options.limits.body_bytes, options.budget->total());
  const auto shared = std::make_shared<const HttpPort>(HttpPort{std::move(handler), std::move(options), impl_->open});
  const auto acceptor = std::make_shared<Acceptor>(impl_->loops[0]->io.get_executor(), socket, Acceptor::Host{
      .next = [impl = impl_.get()] { return impl->loops[impl->next++ % impl->loops.size()]->io.get_executor(); },
      .take = [shared](tcp::socket taken) { take(std::move(taken), shared); }});
  acceptor->start();
  impl_->acceptors.push_back(acceptor);
  return port_of(socket);
}

void HttpServer::stop_accepting() {
  impl_->open->finishing = true;
  impl_->close_acceptors(false);
}

bool HttpServer::wait_for_connections(std::chrono::milliseconds patience) {
  return impl_->wait_until(std::chrono::steady_clock::now() + patience);
}

bool HttpServer::stop(std::chrono::milliseconds patience) {
  if (impl_->threads.empty()) return true;
  const auto until = std::chrono::steady_clock::now() + patience;
  impl_->open->finishing = true;
  impl_->close_acceptors(true);
  impl_->wait_until(std::min(until, std::chrono::steady_clock::now() + kLastRequests));
  impl_->open->stopping = true;
  for (const auto& connection : impl_->open->all()) connection->close_if_idle();
  const bool all_closed = impl_->wait_until(until);
  for (const auto& loop : impl_->loops) loop->work.reset(), loop->io.stop();
  for (std::thread& thread : impl_->threads) thread.join();
  impl_->threads.clear();
  return all_closed;
}

}  // namespace tenfold::server
