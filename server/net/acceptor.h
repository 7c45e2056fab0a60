// Acceptor: connections of one listening socket, for HTTP/1 and HTTP/2. Files that include this compile Asio.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
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
  void close();                                   // from any thread; others who have the same socket go on with it

 private:
  void accept();
  bool refuse_one();

  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  Host host_;
  int spare_ = -1;                                // a descriptor to give up when there are no others
};

}  // namespace tenfold::server
