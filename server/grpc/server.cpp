// Accepting connections, and the end of all of them.
#include "grpc/server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "grpc/session.h"
#include "net/acceptor.h"
#include "net/listen_socket.h"
#include "tenfold/internal/processor_slice.h"

namespace tenfold::server::grpc {
namespace {

constexpr std::chrono::milliseconds kGoAwayDelay{100};
constexpr std::size_t kBytesInFlight = 1 << 30;    // where nobody says another number

}  // namespace

// Of connections; the last of them may go with the last call, after the server.
struct Count {
  std::mutex mutex;
  std::condition_variable none_left;
  std::size_t connections = 0;
};

struct Server::Impl {
  Impl(Services given, ServerOptions options) : services(std::move(given)), options(std::move(options)) {
    budget = this->options.budget ? this->options.budget : std::make_shared<ByteBudget>(kBytesInFlight);
    const int half = static_cast<int>(std::thread::hardware_concurrency() + 1) / 2;
    const int count = this->options.threads > 0 ? this->options.threads : std::clamp(half, 1, 4);
    for (int i = 0; i < count; ++i) loops.push_back(std::make_shared<Loop>());
  }

  void take(tcp::socket socket);
  void each_session(void (Session::*call)());

  const Services services;
  const ServerOptions options;
  std::shared_ptr<ByteBudget> budget;
  std::vector<std::shared_ptr<Loop>> loops;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> work;
  std::vector<std::thread> threads;
  std::shared_ptr<Acceptor> acceptor;
  std::size_t next_loop = 0;                      // of the connection that is accepted next
  std::uint16_t port = 0;
  bool stopped = false;

  const std::shared_ptr<Count> count = std::make_shared<Count>();
};

void Server::Impl::take(tcp::socket socket) {
  const std::shared_ptr<Loop> loop = loops[next_loop++ % loops.size()];
  {
    const std::lock_guard lock(count->mutex);
    if (count->connections >= options.max_connections) return;  // which closes it
    ++count->connections;
  }
  const auto counted = [count = count] {
    const std::lock_guard lock(count->mutex);
    --count->connections;
    count->none_left.notify_all();
  };
  const auto session = std::make_shared<Session>(*loop, std::move(socket), options.tls.get(), counted);
  asio::post(loop->io, [this, loop, session] {
    if (loop->draining) return;
    session->start(loop, {.services = &services, .budget = budget, .admit = options.admit}, options.limits);
  });
}

void Server::Impl::each_session(void (Session::*call)()) {
  for (const auto& loop : loops)
    asio::post(loop->io, [&loop = *loop, call] {
      loop.draining = true;
      const auto sessions = loop.sessions;  // which change it
      for (const auto& session : sessions) (session.get()->*call)();
    });
}

Server::Server(Services services, ServerOptions options) : impl_(std::make_unique<Impl>(std::move(services), std::move(options))) {}
Server::~Server() { stop(std::chrono::milliseconds(0)); }

void Server::start() {
  Impl& impl = *impl_;
  const int socket = impl.options.socket >= 0 ? impl.options.socket : open_listen_socket(impl.options.address, impl.options.port);
  impl.port = port_of(socket);
  impl.acceptor = std::make_shared<Acceptor>(impl.loops[0]->io.get_executor(), socket, Acceptor::Host{
      .next = [&impl] { return impl.loops[impl.next_loop % impl.loops.size()]->io.get_executor(); },
      .take = [&impl](tcp::socket taken) { impl.take(std::move(taken)); }});
  impl.acceptor->start();
  for (const auto& loop : impl.loops) {
    impl.work.push_back(asio::make_work_guard(loop->io));
    impl.threads.emplace_back([&loop = *loop] {
      set_processor_slice(0, kShortSlice);
      loop.io.run();
    });
  }
}

std::uint16_t Server::port() const { return impl_->port; }
std::size_t Server::connections() const {
  const std::lock_guard lock(impl_->count->mutex);
  return impl_->count->connections;
}

void Server::stop_accepting() {
  if (impl_->acceptor && !impl_->threads.empty()) impl_->acceptor->close(false);
}

bool Server::stop(std::chrono::milliseconds patience) {
  Impl& impl = *impl_;
  if (impl.stopped || impl.threads.empty()) return true;
  bool ended = false;
  impl.stopped = true;
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto wait_until = [&](auto time) {
    std::unique_lock lock(impl.count->mutex);
    return impl.count->none_left.wait_until(lock, time, [&] { return impl.count->connections == 0; });
  };
  stop_accepting();
  if (patience.count() > 0) {
    // Calls that are on their way when the client reads the first GOAWAY are still taken; the second one names the last.
    impl.each_session(&Session::drain);
    wait_until(std::min(until, std::chrono::steady_clock::now() + kGoAwayDelay));
    impl.each_session(&Session::refuse_new);
    ended = wait_until(until);
  }
  impl.each_session(&Session::close);
  wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(1));
  for (const auto& loop : impl.loops) loop->io.stop();
  for (std::thread& thread : impl.threads) thread.join();
  impl.threads.clear();
  return ended;
}

}  // namespace tenfold::server::grpc
