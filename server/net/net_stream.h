// NetStream: a connected socket that never blocks, plain or under TLS. HTTP/1 and HTTP/2 read and write through it. Files that include
// this compile Asio.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <span>

#include "net/tls.h"

namespace tenfold::server {

class NetStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Error = boost::system::error_code;
  NetStream(Socket socket, const Tls* tls);        // null: without TLS
  // Both return how many bytes were moved. The error would_block: nothing can be done before the socket is ready for what read_waits() or
  // write_waits() says; eof: the client sends no more. A write that would block is tried again with the same bytes in front.
  std::size_t read_some(void* data, std::size_t size, Error& error);
  std::size_t write_some(std::span<const boost::asio::const_buffer> buffers, Error& error);
  Socket::wait_type read_waits() const { return read_waits_; }
  Socket::wait_type write_waits() const { return write_waits_; }
  bool pending() const { return tls_ && tls_->pending(); }   // there is more to read, of which the socket does not know
  bool has_bytes() const;                          // that were not read yet
  void shut_down_sending();
  void close();
  bool is_open() const { return socket_.is_open(); }
  bool from_this_machine() const { return from_this_machine_; }   // the client's address is one of the loopback
  template <class Done>
  void async_wait(Socket::wait_type what, Done done) { socket_.async_wait(what, std::move(done)); }
  auto get_executor() { return socket_.get_executor(); }

 private:
  std::size_t write_tls(std::span<const boost::asio::const_buffer> buffers, Error& error);
  Error error_of(TlsResult result, Socket::wait_type& waits) const;

  Socket socket_;
  std::unique_ptr<TlsSession> tls_;
  Socket::wait_type read_waits_ = Socket::wait_read, write_waits_ = Socket::wait_write;
  bool from_this_machine_ = false;
};

}  // namespace tenfold::server
