// Session: the socket under a Connection. Boost.Asio is here and in session.cpp and server.cpp only, for it takes long to compile.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "grpc/connection.h"

namespace tenfold::server::grpc {

namespace asio = boost::asio;
using asio::ip::tcp;
class Session;

// A thread with its connections. Sockets are read into its one buffer, so that a connection at rest has none.
struct Loop {
  asio::io_context io{1};
  std::set<std::shared_ptr<Session>> sessions;
  std::vector<char> buffer = std::vector<char>(256 << 10);
  bool draining = false;

  // Has the function called in this thread, behind those that came before. The answers of a batch come together: the first wakes the
  // thread, and the others only lie down beside it.
  void post(std::function<void()> call);

 private:
  void run_posted();
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Loop& loop, tcp::socket socket, std::function<void()> closed)
      : loop_(loop), socket_(std::move(socket)), timer_(loop.io), closed_(std::move(closed)) {}
  ~Session() { closed_(); }
  // Calls keep the thread's loop, for they may end after the server.
  void start(const std::shared_ptr<Loop>& loop, const Services& services, std::shared_ptr<ByteBudget> budget, const Limits& limits);
  void drain();
  void refuse_new();
  void close();

 private:
  void wait_readable();
  void readable();
  bool read_once();
  void flush();
  void flush_soon();
  void write_rest();
  void linger();
  void arm();
  bool plain_http(std::string_view bytes);

  Loop& loop_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::function<void()> closed_;
  std::shared_ptr<Connection> connection_;
  std::chrono::milliseconds write_timeout_{};
  std::string out_;
  std::size_t written_ = 0;
  Connection::Clock::time_point armed_ = Connection::Clock::time_point::max(), write_began_;
  bool busy_ = false, writing_ = false, reading_ = false, ending_ = false, lingering_ = false, first_ = true, plain_ = false;
  bool flushes_ = false;                         // flush_soon() is on its way
};

}  // namespace tenfold::server::grpc
