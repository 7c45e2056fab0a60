// Acceptor: connections of one listening socket, for HTTP/1 and HTTP/2. Files that include this compile Asio.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <atomic>
#include <functional>
#include <future>
#include <memory>

namespace tenfold::server {

// Accepts until it is closed. Where few descriptors are left, a connection is closed at once: its client can try elsewhere, and does not
// hang, and the rest of the process has descriptors for its files.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  struct Host {
    std::function<boost::asio::any_io_executor()> next;             // the executor of the next connection's socket
    std::function<void(boost::asio::ip::tcp::socket)> take;
  };
  // Takes the descriptor over. `executor` runs one function at a time: those of the host, too.
  Acceptor(const boost::asio::any_io_executor& executor, int socket, Host host);
  void start();
  // From any thread but the executor's, which must run: returns when nothing more is taken. Others who have the same socket go on with
  // it; with `rest` the connections that wait now are taken first.
  void close(bool rest);

 private:
  void accept();
  void take(boost::asio::ip::tcp::socket socket);
  void take_rest();
  void end();

  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  Host host_;
  std::atomic<bool> closing_ = false;
  bool ended_ = false;
  std::promise<void> closed_;
};

}  // namespace tenfold::server
