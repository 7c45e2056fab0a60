// A connection as a chain of steps, one at a time: wait for bytes, head, body, handler, response, and again.
#include "net/http_connection.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/status.hpp>

#include "net/http_reader.h"
#include "net/net_stream.h"

namespace tenfold::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Step = HttpReader::Step;

constexpr std::size_t kReadBytes = 256 << 10;    // at once, into memory that the connections of a thread share
constexpr std::size_t kEarlyBytes = 16 << 10;    // of the next requests, which are read while one is at work
constexpr int kReadsInTurn = 16;                 // before other connections have theirs
constexpr std::chrono::seconds kDrainTime{10};

HttpResponse error_response(int status, const std::string& words) {
  HttpResponse response{status, {{"Content-Type", "application/json"}}, {}};
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  std::string json = "{\"error\":\"";
  for (const char c : words) json += c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? '\'' : c;
  response.body.push_back(body_part(json + "\"}"));
  return response;
}

std::size_t total(const std::vector<BodyPart>& parts) {
  std::size_t bytes = 0;
  for (const BodyPart& part : parts) bytes += part.bytes.size();
  return bytes;
}

std::chrono::seconds patience(const HttpLimits& limits, std::uint64_t bytes) {
  return limits.read_timeout + std::chrono::seconds(bytes / 100000);
}

std::string head_of(const HttpResponse& response, std::size_t body, bool keep, bool version_10) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(std::string_view(http::obsolete_reason(static_cast<http::status>(response.status)))) + "\r\n";
  for (const auto& [name, value] : response.headers) head += name + ": " + value + "\r\n";
  head += "Content-Length: " + std::to_string(body) + "\r\n";
  if (!keep) head += "Connection: close\r\n";
  else if (version_10) head += "Connection: keep-alive\r\n";
  return head + "\r\n";
}

// A connection lives as long as one of its steps, or an exchange that has to be answered.
class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, std::shared_ptr<const HttpPort> port)
      : port_(std::move(port)),
        stream_(std::move(socket), port_->options.tls.get()),
        timer_(stream_.get_executor()),
        reader_(port_->options.limits, port_->options.budget) {}
  ~Connection() override {
    port_->open->remove(this);
    --port_->open->count, --*port_->count;
  }
  void start() {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
      // A handshake, and the first request behind it, have the time of a head.
      if (self->port_->options.tls) self->first_idle_ = self->port_->options.limits.read_timeout;
      self->wait_for_request();
    });
  }
  void close_if_idle() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      if (self->doing_ == Doing::idle && !self->has_bytes()) self->close();
    });
  }

 private:
  class Exchange;
  enum class Doing : std::uint8_t { idle, head, body, handler, response, drain };

  const HttpLimits& limits() const { return port_->options.limits; }
  bool has_bytes() { return reader_.unread() > 0 || stream_.has_bytes(); }   // of a request that has not been read
  void wait_for_request();
  void read_on();                                // has readable() called when there are bytes
  void readable();
  bool take_bytes(std::string_view bytes);
  void step();
  void after_head();
  void handle();
  void end_of_input();
  void respond(HttpResponse response);           // in the connection's executor
  // Where the rest of the request is not read, the connection has to end.
  void refuse(HttpResponse response);
  void overloaded();
  void write();
  void after_write();
  void begin(Doing doing, Clock::duration time);
  void arm();
  void close();

  std::shared_ptr<const HttpPort> port_;
  NetStream stream_;
  asio::steady_timer timer_;
  HttpReader reader_;
  Doing doing_ = Doing::idle;
  Clock::time_point due_ = Clock::time_point::max(), armed_ = Clock::time_point::max();
  std::optional<Clock::duration> first_idle_;
  bool reading_ = false, keep_ = true, must_close_ = false, no_more_input_ = false;
  std::size_t to_drain_ = 0;
  std::shared_ptr<Exchange> exchange_;           // that the handler has
  std::string head_;                             // of the response
  HttpResponse response_;
  std::vector<asio::const_buffer> out_;          // what of both is not written
  std::size_t out_at_ = 0;                       // of its buffers, the first that is left
  std::unique_ptr<HeldBytes> out_held_;
};

class Connection::Exchange final : public HttpExchange, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<Connection> connection, HttpRequest request)
      : connection_(std::move(connection)), request_(std::move(request)) {}
  const HttpRequest& request() const override { return request_; }
  void respond_by(std::function<HttpResponse()> make) override {
    asio::dispatch(connection_->stream_.get_executor(), [self = shared_from_this(), make = std::move(make)] {
      if (self->connection_->exchange_ != self) return;   // the client has left
      HttpResponse response;
      try {
        response = make();
      } catch (const std::exception&) {
        response = error_response(500, "the response could not be made");
      }
      self->connection_->respond(std::move(response));
    });
  }
  void when_gone(std::function<void()> gone) override {
    std::unique_lock lock(mutex_);
    if (!left_) {
      if (!answered_) gone_ = std::move(gone);
      return;
    }
    lock.unlock();
    gone();
  }
  void client_left() {
    std::unique_lock lock(mutex_);
    left_ = true;
    const std::function<void()> gone = std::move(gone_);
    lock.unlock();
    if (gone) gone();
  }
  void forget() {                                // the response is there: what was to be called keeps nothing any more
    const std::lock_guard lock(mutex_);
    answered_ = true, gone_ = nullptr;
  }

 private:
  std::shared_ptr<Connection> connection_;
  HttpRequest request_;
  std::mutex mutex_;
  bool left_ = false, answered_ = false;
  std::function<void()> gone_;
};

void Connection::close() {
  if (!stream_.is_open()) return;
  stream_.close();
  timer_.cancel();
}

void Connection::begin(Doing doing, Clock::duration time) {
  doing_ = doing;
  due_ = Clock::now() + time;
  arm();
}

// The timer is set anew only if it would be late: most deadlines are over before it rings.
void Connection::arm() {
  if (due_ >= armed_ || !stream_.is_open()) return;
  armed_ = due_;
  timer_.expires_at(due_);
  timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (error) return;
    self->armed_ = Clock::time_point::max();
    if (Clock::now() >= self->due_) self->close();
    else self->arm();
  });
}

void Connection::wait_for_request() {
  reader_.begin();
  if (port_->open->stopping && !has_bytes()) return close();
  begin(Doing::idle, first_idle_.value_or(limits().idle_timeout));
  if (reader_.unread() == 0) return no_more_input_ ? close() : read_on();
  asio::post(stream_.get_executor(), [self = shared_from_this()] {   // not from here: a pipeline would be as deep as it is long
    if (self->doing_ != Doing::idle || !self->stream_.is_open()) return;
    self->step();
    self->reader_.keep();
  });
}

void Connection::read_on() {
  if (reading_ || no_more_input_ || !stream_.is_open()) return;
  reading_ = true;
  if (stream_.pending())
    return asio::post(stream_.get_executor(), [self = shared_from_this()] { self->reading_ = false, self->readable(); });
  stream_.async_wait(stream_.read_waits(), [self = shared_from_this()](ErrorCode error) {
    self->reading_ = false;
    if (!error) self->readable();
  });
}

void Connection::readable() {
  static thread_local const std::unique_ptr<char[]> memory(new char[kReadBytes]);
  for (int turn = 0; turn < kReadsInTurn && stream_.is_open(); ++turn) {
    ErrorCode error;
    // What is no body may be requests that wait here: a client that sends many and reads no answer would have all of them kept.
    const std::size_t most = doing_ == Doing::body ? kReadBytes : kEarlyBytes;
    const std::size_t count = stream_.read_some(memory.get(), most, error);
    if (error == asio::error::would_block || error == asio::error::interrupted) break;
    if (error == asio::error::eof) return end_of_input();
    if (error) {
      no_more_input_ = true;
      if (doing_ == Doing::handler) return end_of_input();
      return close();
    }
    const bool more = take_bytes({memory.get(), count});
    reader_.keep();
    if (!more) return;
    if (count < most) break;
  }
  read_on();
}

// Whether more is to be read now.
bool Connection::take_bytes(std::string_view bytes) {
  if (doing_ == Doing::drain) {
    to_drain_ -= std::min(to_drain_, bytes.size());
    if (to_drain_ == 0) close();
    return to_drain_ > 0;
  }
  reader_.push(bytes);
  if (doing_ <= Doing::body) step();
  if (!stream_.is_open() || doing_ == Doing::response) return false;
  if (doing_ == Doing::idle) return reader_.unread() == 0;   // else a request that was read before is next
  return doing_ != Doing::handler || reader_.unread() < kEarlyBytes;
}

// As far as what was read permits.
void Connection::step() {
  if (doing_ == Doing::idle) first_idle_.reset(), begin(Doing::head, limits().read_timeout);
  while (doing_ <= Doing::body && stream_.is_open()) {
    switch (reader_.next()) {
      case Step::more: return read_on();
      case Step::head: after_head(); break;
      case Step::whole: return handle();
      case Step::refused: return refuse(error_response(reader_.refusal_status(), reader_.refusal()));
      case Step::overloaded: return overloaded();
    }
  }
}

void Connection::after_head() {
  const HttpRequest& head = reader_.request();
  const std::uint64_t length = reader_.body_bytes();
  const auto& budget = port_->options.budget;
  if (port_->options.admit)
    if (auto refusal = port_->options.admit(head, stream_.from_this_machine())) return refuse(std::move(*refusal));
  if (budget && length > 0 && !budget->has_room(reader_.has_length() ? static_cast<std::size_t>(length) : 1)) return overloaded();
  begin(Doing::body, patience(limits(), length));
  if (!reader_.expects_continue() || reader_.body_is_read()) return;
  static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
  const asio::const_buffer line(kGoOn.data(), kGoOn.size());
  ErrorCode error;
  if (stream_.write_some({&line, 1}, error) != kGoOn.size()) close();   // a client that has not read what was sent before
}

void Connection::overloaded() {
  const std::string why = "requests in flight have " + std::to_string(port_->options.budget ? port_->options.budget->total() : 0) +
                          " bytes, which is the limit of the server: try again later";
  refuse(port_->options.overloaded ? port_->options.overloaded(reader_.request(), why) : error_response(503, why));
}

void Connection::refuse(HttpResponse response) {
  must_close_ = !reader_.body_is_read();
  respond(std::move(response));
}

void Connection::handle() {
  doing_ = Doing::handler, due_ = Clock::time_point::max();
  exchange_ = std::make_shared<Exchange>(shared_from_this(), reader_.take());
  try {
    port_->handler(exchange_);
  } catch (const std::exception&) {
    if (exchange_) respond(error_response(500, "the request failed in the server"));
  }
  if (exchange_) read_on();                      // the client's end is seen while the handler works
}

void Connection::end_of_input() {
  no_more_input_ = true;
  if (doing_ == Doing::response) return;
  const std::shared_ptr<Exchange> left = std::move(exchange_);
  close();
  if (left) left->client_left();
}

void Connection::respond(HttpResponse response) {
  Encoding encoding = Encoding::none;
  if (exchange_) {
    exchange_->forget();
    encoding = accepted_encoding(exchange_->request().header("accept-encoding"));
  }
  exchange_.reset();
  response_ = std::move(response);
  if (response_.no_compression) encoding = Encoding::none;
  if (encoding != Encoding::none && total(response_.body) > 0) {
    response_.body = {body_part(deflated(response_.body, encoding))};
    response_.headers.emplace_back("Content-Encoding", encoding == Encoding::gzip ? "gzip" : "deflate");
  }
  const OpenConnections& open = *port_->open;
  const bool ends = open.stopping || (open.finishing && reader_.unread() == 0);   // not before a request that is there already
  keep_ = !must_close_ && !ends && reader_.keep_alive();
  const std::size_t bytes = total(response_.body);
  head_ = head_of(response_, bytes, keep_, reader_.is_version_10());
  out_ = {asio::buffer(head_)}, out_at_ = 0;
  if (!reader_.is_head_request())
    for (const BodyPart& part : response_.body)
      if (!part.bytes.empty()) out_.emplace_back(part.bytes.data(), part.bytes.size());
  begin(Doing::response, patience(limits(), bytes));
  write();
}

void Connection::write() {
  while (out_at_ < out_.size()) {
    ErrorCode error;
    std::size_t count = stream_.write_some(std::span(out_).subspan(out_at_), error);
    if (error == asio::error::would_block || error == asio::error::interrupted) {
      // Until its client has read it, a response counts as memory in use.
      if (port_->options.budget && !out_held_)
        out_held_ = std::make_unique<HeldBytes>(port_->options.budget), out_held_->set(total(response_.body));
      return stream_.async_wait(stream_.write_waits(), [self = shared_from_this()](ErrorCode failed) {
        if (!failed) self->write();
      });
    }
    if (error) return close();
    for (; out_at_ < out_.size() && count >= out_[out_at_].size(); ++out_at_) count -= out_[out_at_].size();
    if (out_at_ < out_.size()) out_[out_at_] += count;
  }
  after_write();
}

void Connection::after_write() {
  response_ = {}, head_ = {}, out_ = {};
  out_held_.reset();
  if (keep_) return wait_for_request();
  if (!must_close_ || no_more_input_) return close();
  // A connection that is closed while the client still sends loses the response: what comes is read, within limits.
  stream_.shut_down_sending();
  to_drain_ = limits().body_bytes;
  begin(Doing::drain, kDrainTime);
  read_on();
}

}  // namespace

void start_connection(asio::ip::tcp::socket socket, std::shared_ptr<const HttpPort> port) {
  ++port->open->count, ++*port->count;
  const auto connection = std::make_shared<Connection>(std::move(socket), port);
  port->open->add(connection);
  connection->start();
}

}  // namespace tenfold::server
