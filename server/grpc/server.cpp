// Accepting connections, and the end of all of them.
#include "grpc/server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "grpc/session.h"

namespace tenfold::server::grpc {
namespace {

constexpr std::chrono::milliseconds kRetryAccept{100}, kGoAwayDelay{100};

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

}  // namespace

// Of connections; the last of them may go with the last call, after the server.
struct Count {
  std::mutex mutex;
  std::condition_variable none_left;
  std::size_t connections = 0;
};

struct Server::Impl {
  Impl(Services given, ServerOptions options) : services(std::move(given)), options(std::move(options)) {
    budget = std::make_shared<ByteBudget>(this->options.max_bytes_in_flight);
    const int half = static_cast<int>(std::thread::hardware_concurrency() + 1) / 2;
    const int count = this->options.threads > 0 ? this->options.threads : std::clamp(half, 1, 4);
    for (int i = 0; i < count; ++i) loops.push_back(std::make_shared<Loop>());
  }

  void open();
  void accept();
  void each_session(void (Session::*call)());

  const Services services;
  const ServerOptions options;
  std::shared_ptr<ByteBudget> budget;
  std::vector<std::shared_ptr<Loop>> loops;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> work;
  std::vector<std::thread> threads;
  std::unique_ptr<tcp::acceptor> acceptor;
  std::unique_ptr<asio::steady_timer> retry;
  std::size_t next_loop = 0;
  std::uint16_t port = 0;
  bool stopped = false;

  const std::shared_ptr<Count> count = std::make_shared<Count>();
};

void Server::Impl::accept() {
  bool full = false;
  {
    const std::lock_guard lock(count->mutex);
    full = count->connections >= options.max_connections;
    if (!full) ++count->connections;
  }
  const auto later = [this] {
    retry->expires_after(kRetryAccept);
    retry->async_wait([this](const boost::system::error_code& error) {
      if (!error && acceptor->is_open()) accept();
    });
  };
  if (full) return later();
  const std::shared_ptr<Loop> loop = loops[next_loop++ % loops.size()];
  acceptor->async_accept(loop->io, [this, loop, later](const boost::system::error_code& error, tcp::socket socket) {
    // Made first, so that it counts the connection off in every case.
    const auto counted = [count = count] {
      const std::lock_guard lock(count->mutex);
      --count->connections;
      count->none_left.notify_all();
    };
    if (error) {
      counted();
      if (error == asio::error::operation_aborted || !acceptor->is_open()) return;
      return later();  // no descriptors are left, for one: connections that end give theirs back
    }
    const auto session = std::make_shared<Session>(*loop, std::move(socket), counted);
    asio::post(loop->io, [this, loop, session] {
      if (loop->draining) return;
      session->start(loop, services, budget, options.limits);
    });
    accept();
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

void Server::Impl::open() {
  acceptor = std::make_unique<tcp::acceptor>(loops[0]->io);
  if (options.socket >= 0) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    ::getsockname(options.socket, reinterpret_cast<sockaddr*>(&address), &length);
    acceptor->assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), options.socket);
  } else {
    const tcp::endpoint endpoint(asio::ip::make_address(options.address), options.port);
    acceptor->open(endpoint.protocol());
    acceptor->set_option(tcp::acceptor::reuse_address(true));
    if (options.reuse_port) acceptor->set_option(ReusePort(true));
    acceptor->bind(endpoint);
    acceptor->listen(4096);
  }
  port = acceptor->local_endpoint().port();
}

void Server::start() {
  Impl& impl = *impl_;
  auto& io = impl.loops[0]->io;
  try {
    impl.open();
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error("gRPC cannot listen on " + impl.options.address + ":" + std::to_string(impl.options.port) + ": " +
                             error.code().message());
  }
  impl.retry = std::make_unique<asio::steady_timer>(io);
  impl.accept();
  for (const auto& loop : impl.loops) {
    impl.work.push_back(asio::make_work_guard(loop->io));
    impl.threads.emplace_back([&loop = *loop] { loop.io.run(); });
  }
}

std::uint16_t Server::port() const { return impl_->port; }
std::size_t Server::connections() const {
  const std::lock_guard lock(impl_->count->mutex);
  return impl_->count->connections;
}

void Server::stop_accepting() {
  Impl& impl = *impl_;
  if (impl.stopped || impl.threads.empty()) return;
  std::promise<void> closed;
  auto& io = impl.loops[0]->io;
  asio::post(io, [&] {
    impl.acceptor->close();
    impl.retry->cancel();
    // A connection that was accepted already comes before this, as all that the loop does.
    asio::post(io, [&closed] { closed.set_value(); });
  });
  closed.get_future().wait();
}

bool Server::stop(std::chrono::milliseconds patience) {
  Impl& impl = *impl_;
  if (impl.stopped || impl.threads.empty()) return true;
  bool ended = false;
  stop_accepting();
  impl.stopped = true;
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto wait_until = [&](auto time) {
    std::unique_lock lock(impl.count->mutex);
    return impl.count->none_left.wait_until(lock, time, [&] { return impl.count->connections == 0; });
  };
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
