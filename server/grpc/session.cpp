// Reading, writing and the timer of a connection.
#include "grpc/session.h"

#include <boost/asio/post.hpp>

namespace tenfold::server::grpc {
namespace {

constexpr int kReadsInTurn = 4;  // before other connections of the thread have theirs
constexpr std::chrono::seconds kLinger{1};
constexpr std::string_view kPlainHttp =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 68\r\n\r\n"
    "this port takes gRPC (HTTP/2 without TLS); HTTP/1 has another port.\n";

}  // namespace

void Loop::post(std::function<void()> call) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(call));
  }
  if (first) asio::post(io, [this] { run_posted(); });
}

void Loop::run_posted() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(posted_);
  }
  for (const auto& call : calls) call();
}

void Session::start(const std::shared_ptr<Loop>& loop, const Services& services, std::shared_ptr<ByteBudget> budget, const Limits& limits) {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  write_timeout_ = limits.write_timeout;
  connection_ = std::make_shared<Connection>(
      Connection::Host{.services = &services,
                       .budget = std::move(budget),
                       .post = [loop](std::function<void()> call) { loop->post(std::move(call)); },
                       .wake =
                           [weak = weak_from_this()] {
                             if (const auto self = weak.lock()) self->flush_soon();
                           }},
      limits);
  connection_->begin();
  loop_.sessions.insert(shared_from_this());
  wait_readable();
  arm();
}

void Session::wait_readable() {
  // A client that does not read is not read from, either: each of its frames may be worth one of ours.
  if (reading_ || !socket_.is_open() || out_.size() - written_ >= Connection::kWriteBytes) return;
  reading_ = true;
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    self->reading_ = false;
    if (error || !self->socket_.is_open()) return;
    self->readable();
  });
}

void Session::readable() {
  for (int turn = 0; turn < kReadsInTurn && socket_.is_open(); ++turn)
    if (!read_once()) break;
  if (socket_.is_open()) flush();
  wait_readable();
}

// Whether there may be more to read.
bool Session::read_once() {
  boost::system::error_code error;
  const std::size_t count = socket_.read_some(asio::buffer(loop_.buffer), error);
  if (error == asio::error::would_block || error == asio::error::interrupted) return false;
  if (error) {
    close();
    return false;
  }
  const std::string_view bytes(loop_.buffer.data(), count);
  if (ending_ || plain_http(bytes)) return false;
  busy_ = true;
  if (!connection_->receive(bytes)) ending_ = true;
  busy_ = false;
  return count == loop_.buffer.size() && !ending_;
}

bool Session::plain_http(std::string_view bytes) {
  const bool plain = first_ && (bytes.starts_with("GET ") || bytes.starts_with("POST ") || bytes.starts_with("HEAD "));
  first_ = false;
  if (!plain) return false;
  plain_ = true;
  out_ = kPlainHttp;
  written_ = 0;
  ending_ = true;
  return true;
}

// Answers that come together, such as those of a batch, are written together.
void Session::flush_soon() {
  if (busy_ || flushes_) return;
  flushes_ = true;
  asio::post(loop_.io, [self = shared_from_this()] {
    self->flushes_ = false;
    self->flush();
  });
}

void Session::flush() {
  // Until the client has said what it speaks, nothing is sent: it may be HTTP/1, which is answered as that.
  if (first_ || busy_ || writing_ || lingering_ || !socket_.is_open()) return;
  busy_ = true;
  for (;;) {
    if (out_.empty() && !plain_) connection_->write(out_);
    if (out_.empty()) break;
    boost::system::error_code error;
    written_ += socket_.write_some(asio::buffer(out_.data() + written_, out_.size() - written_), error);
    if (error == asio::error::would_block) {
      busy_ = false;
      write_rest();
      return arm();
    }
    if (error) {
      busy_ = false;
      return close();
    }
    if (written_ < out_.size()) continue;
    written_ = 0;
    out_.clear();
  }
  busy_ = false;
  if (out_.capacity() > Connection::kWriteBytes / 4) out_ = std::string();  // at rest a connection has no buffer
  if (ending_ || connection_->ended()) return linger();
  wait_readable();
  arm();
}

void Session::write_rest() {
  writing_ = true;
  write_began_ = Connection::Clock::now();
  socket_.async_wait(tcp::socket::wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    self->writing_ = false;
    if (error || !self->socket_.is_open()) return;
    self->flush();
  });
}

void Session::arm() {
  if (!socket_.is_open()) return;
  auto due = connection_->next_due();
  if (writing_) due = std::min(due, write_began_ + write_timeout_);
  if (due >= armed_ || due == Connection::Clock::time_point::max()) return;
  armed_ = due;
  timer_.expires_at(due);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error || !self->socket_.is_open()) return;
    self->armed_ = Connection::Clock::time_point::max();
    if (self->lingering_) return self->close();
    const auto now = Connection::Clock::now();
    self->busy_ = true;
    const bool there = self->connection_->tick(now) && !(self->writing_ && now - self->write_began_ >= self->write_timeout_);
    self->busy_ = false;
    if (!there) return self->close();
    self->flush();
    self->arm();
  });
}

// Closing with unread bytes would have the system drop what was written last, which says why.
void Session::linger() {
  lingering_ = ending_ = true;
  boost::system::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  connection_->close();
  armed_ = Connection::Clock::now() + kLinger;
  timer_.expires_at(armed_);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->close();
  });
  wait_readable();
}

void Session::drain() { connection_->drain(); }
void Session::refuse_new() {
  connection_->refuse_new();
  flush();
}

void Session::close() {
  if (!socket_.is_open()) return;
  boost::system::error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  const auto self = shared_from_this();
  loop_.sessions.erase(self);
  connection_->close();
}

}  // namespace tenfold::server::grpc
