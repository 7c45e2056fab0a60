#include "net/net_stream.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tenfold::server {
namespace {

namespace asio = boost::asio;
constexpr std::size_t kRecord = 16384;            // of TLS: the most that one has

bool is_loopback(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
  return address.is_loopback();
}

}  // namespace

NetStream::NetStream(Socket socket, const Tls* tls) : socket_(std::move(socket)) {
  Error ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  Error unknown;
  const auto peer = socket_.remote_endpoint(unknown);
  from_this_machine_ = !unknown && is_loopback(peer.address());
  if (tls) tls_ = tls->session(socket_.native_handle());
}

NetStream::Error NetStream::error_of(TlsResult result, Socket::wait_type& waits) const {
  switch (result) {
    case TlsResult::done: return {};
    case TlsResult::wants_read: waits = Socket::wait_read; return asio::error::would_block;
    case TlsResult::wants_write: waits = Socket::wait_write; return asio::error::would_block;
    case TlsResult::ended: return asio::error::eof;
    default: return asio::error::connection_aborted;
  }
}

std::size_t NetStream::read_some(void* data, std::size_t size, Error& error) {
  if (!tls_) return socket_.read_some(asio::buffer(data, size), error);
  std::size_t total = 0;
  while (total < size) {                           // a record at a time
    std::size_t count = 0;
    error = error_of(tls_->read(static_cast<char*>(data) + total, size - total, count), read_waits_);
    if (error) break;
    total += count;
  }
  if (total > 0) error = {};
  return total;
}

std::size_t NetStream::write_some(std::span<const asio::const_buffer> buffers, Error& error) {
  if (tls_) return write_tls(buffers, error);
  // As many as a system call takes.
  const auto first = buffers.first(std::min<std::size_t>(buffers.size(), 64));
  if (first.size() == 1) return socket_.write_some(first[0], error);
  return socket_.write_some(std::vector<asio::const_buffer>(first.begin(), first.end()), error);
}

// Small buffers, such as a head and a short body, are one record.
std::size_t NetStream::write_tls(std::span<const asio::const_buffer> buffers, Error& error) {
  char record[kRecord];
  const void* data = record;
  std::size_t size = 0;
  if (buffers.front().size() >= kRecord) {
    data = buffers.front().data(), size = kRecord;
  } else {
    for (const asio::const_buffer& buffer : buffers) {
      const std::size_t piece = std::min(buffer.size(), kRecord - size);
      if (piece > 0) std::memcpy(record + size, buffer.data(), piece);
      size += piece;
    }
  }
  error = {};
  if (size == 0) return 0;
  std::size_t count = 0;
  error = error_of(tls_->write(data, size, count), write_waits_);
  return error ? 0 : count;
}

bool NetStream::has_bytes() const {
  Error error;
  return pending() || (socket_.available(error) > 0 && !error);
}

void NetStream::shut_down_sending() {
  if (tls_) tls_->shut_down();
  Error ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void NetStream::close() {
  if (!socket_.is_open()) return;
  if (tls_) tls_->shut_down();
  Error ignored;
  socket_.close(ignored);
}

}  // namespace tenfold::server
