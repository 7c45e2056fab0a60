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

// Accepts until it is closed. Where descriptors are exhausted, the oldest connection that waits is closed: its client can try elsewhere,
// and does not hang.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  struct Host {
    std::function<boost::asio::any_io_executor()> next;             // the executor of the next connection's socket
    std::function<void(boost::asio::ip::tcp::socket)> take;
  };
  // Takes the descriptor over. `executor` runs one function at a time: those of the host, too.
  Acceptor(const boost::asio::any_io_executor& executor, int socket, Host host);
  ~Acceptor();
  void start();
  // From any thread but the executor's, which must run: returns when nothing more is taken. Others who have the same socket go on with
  // it; with `rest` the connections that wait now are taken first.
  void close(bool rest);

 private:
  void accept();
  bool refuse_one();
  void take_rest();
  void end();

  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  Host host_;
  int spare_ = -1;                                // a descriptor to give up when there are no others
  std::atomic<bool> closing_ = false;
  bool ended_ = false;
  std::promise<void> closed_;
};

}  // namespace tenfold::server
