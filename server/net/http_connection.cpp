// A connection as a chain of steps, one at a time: wait for bytes, head, body, handler, response, and again.
#include "net/http_connection.h"

#include <sys/socket.h>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <cctype>
#include <optional>

#include "net/compression.h"
#include "net/padded_body.h"

namespace tenfold::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Parser = http::request_parser<PaddedBody>;
using ErrorCode = beast::error_code;

HttpResponse error_response(int status, const std::string& words) {
  HttpResponse response{status, {{"Content-Type", "application/json"}}, {}};
  response.body.push_back(body_part("{\"error\":\"" + words + "\"}"));
  return response;
}

std::size_t total(const std::vector<BodyPart>& parts) {
  std::size_t bytes = 0;
  for (const BodyPart& part : parts) bytes += part.bytes.size();
  return bytes;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::chrono::seconds patience(const HttpLimits& limits, std::uint64_t bytes) {
  return limits.read_timeout + std::chrono::seconds(bytes / 100000);
}

// A connection lives as long as one of its steps, or an exchange that has to be answered.
class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, std::shared_ptr<const HttpPort> port) : stream_(std::move(socket)), port_(std::move(port)) {
    ErrorCode ignored;
    stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  }
  ~Connection() override {
    port_->open->remove(this);
    --port_->open->count;
  }
  void start() {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->wait_for_request(); });
  }
  void close_if_idle() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      if (self->idle_ && !self->has_bytes()) self->close();
    });
  }

 private:
  class Exchange;

  void close() {
    ErrorCode ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  bool has_bytes() {                             // of a request that has not been read
    ErrorCode error;
    return buffer_.size() > 0 || (stream_.socket().available(error) > 0 && !error);
  }

  void wait_for_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(port_->limits.header_bytes));
    parser_->body_limit(port_->limits.body_bytes);
    chunks_ = 0;
    parser_->on_chunk_header(count_chunk_);
    if (port_->open->stopping && !has_bytes()) return close();
    if (buffer_.size() > 0) return read_head();
    idle_ = true;
    stream_.expires_after(port_->limits.idle_timeout);
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](ErrorCode error, std::size_t bytes) {
      self->idle_ = false;
      if (error) return self->close();
      self->buffer_.commit(bytes);
      self->read_head();
    });
  }

  void read_head() {
    stream_.expires_after(port_->limits.read_timeout);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](ErrorCode error, std::size_t) { self->after_head(error); });
  }

  void after_head(ErrorCode error) {
    if (error) return refuse(error);
    const auto& head = parser_->get();
    if (static_cast<std::size_t>(std::distance(head.begin(), head.end())) > port_->limits.headers)
      return refuse(431, "the request has more than " + std::to_string(port_->limits.headers) + " header lines");
    if (head.find(http::field::transfer_encoding) != head.end() && !parser_->chunked())
      return refuse(501, "this Transfer-Encoding is not supported: send chunked, or Content-Length");
    if ((head.method() == http::verb::post || head.method() == http::verb::put) && !parser_->chunked() && !parser_->content_length())
      return refuse(411, "the request has no Content-Length");
    encoding_ = content_encoding(std::string_view(head[http::field::content_encoding]));
    if (!encoding_) return refuse(415, "this Content-Encoding is not supported: send gzip, deflate or identity");
    if (lower(std::string_view(head[http::field::expect])) != "100-continue") return read_body();
    static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kGoOn), [self = shared_from_this()](ErrorCode failed, std::size_t) {
      if (failed) return self->close();
      self->read_body();
    });
  }

  void read_body() {
    if (parser_->is_done()) return handle();
    const auto length = parser_->content_length();
    stream_.expires_after(patience(port_->limits, length ? *length : port_->limits.body_bytes));
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](ErrorCode error, std::size_t) {
      if (error) return self->refuse(error);
      self->handle();
    });
  }

  void handle();
  void respond(HttpResponse response);           // in the connection's executor
  void watch();                                  // for the client's end, while the handler works
  void drain(std::size_t left);

  void refuse(ErrorCode error) {
    if (error == http::error::body_limit)
      return refuse(413, "the body has more than " + std::to_string(port_->limits.body_bytes) + " bytes");
    if (error == http::error::header_limit)
      return refuse(431, "the head has more than " + std::to_string(port_->limits.header_bytes) + " bytes");
    if (chunks_ > port_->limits.chunks) return refuse(413, "the body has more than " + std::to_string(port_->limits.chunks) + " chunks");
    if (error.category() == http::make_error_code(http::error::bad_line_ending).category() && error != http::error::end_of_stream &&
        error != http::error::partial_message)
      return refuse(400, "malformed HTTP: " + error.message());
    close();                                     // nobody is there, or nothing comes
  }
  // Where the rest of the request is not read, so that the connection has to end.
  void refuse(int status, const std::string& words) {
    must_close_ = true;
    respond(error_response(status, words));
  }

  beast::tcp_stream stream_;
  std::shared_ptr<const HttpPort> port_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::size_t chunks_ = 0;
  std::function<void(std::uint64_t, beast::string_view, ErrorCode&)> count_chunk_ = [this](std::uint64_t, beast::string_view,
      ErrorCode& e) {
    if (++chunks_ > port_->limits.chunks) e = http::error::body_limit;
  };
  std::optional<Encoding> encoding_;
  bool idle_ = false, must_close_ = false;
  std::shared_ptr<Exchange> exchange_;           // that the handler has
  std::string head_;                             // of the response
  HttpResponse response_;
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

void Connection::handle() {
  HttpRequest request;
  const auto& head = parser_->get();
  request.method = std::string(std::string_view(head.method_string()));
  request.target = std::string(std::string_view(head.target()));
  for (const auto& field : head) request.headers.emplace_back(lower(std::string_view(field.name_string())),
      std::string(std::string_view(field.value())));
  PaddedBody::value_type& body = parser_->get().body();
  body.reserve(body.size);                       // also where there is none
  request.body = std::move(body.data), request.size = body.size;
  stream_.expires_never();
  if (*encoding_ != Encoding::none) {
    const Inflated inflated = inflate_body(request, *encoding_, port_->limits.body_bytes);
    if (inflated == Inflated::too_large)
      return refuse(413, "the body has more than " + std::to_string(port_->limits.body_bytes) + " bytes when it is decompressed");
    if (inflated == Inflated::damaged) return respond(error_response(400, "the body cannot be decompressed as its Content-Encoding says"));
  }
  exchange_ = std::make_shared<Exchange>(shared_from_this(), std::move(request));
  try {
    port_->handler(exchange_);
  } catch (const std::exception&) {
    respond(error_response(500, "the request failed in the server"));
  }
  if (exchange_) watch();
}

void Connection::watch() {
  stream_.socket().async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this(), exchange = exchange_](ErrorCode error) {
    if (error || exchange != self->exchange_) return;
    char byte = 0;
    const auto got = ::recv(self->stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;   // the next request, which waits
    self->exchange_.reset();
    self->close();
    exchange->client_left();
  });
}

void Connection::respond(HttpResponse response) {
  if (exchange_) {
    exchange_->forget();
    ErrorCode ignored;
    stream_.socket().cancel(ignored);            // watch()
  }
  response_ = std::move(response);
  const auto& head = parser_->get();
  const bool as_it_is = !exchange_ || response_.no_compression;
  const Encoding encoding = as_it_is ? Encoding::none : accepted_encoding(exchange_->request().header("accept-encoding"));
  if (encoding != Encoding::none && total(response_.body) > 0) {
    response_.body = {body_part(deflated(response_.body, encoding))};
    response_.headers.emplace_back("Content-Encoding", encoding == Encoding::gzip ? "gzip" : "deflate");
  }
  exchange_.reset();
  const OpenConnections& open = *port_->open;
  const bool ends = open.stopping || (open.finishing && buffer_.size() == 0);   // not before a request that is there already
  const bool keep = !must_close_ && !ends && parser_->keep_alive();
  const std::size_t bytes = total(response_.body);
  head_ = "HTTP/1.1 " + std::to_string(response_.status) + " " +
          std::string(std::string_view(http::obsolete_reason(static_cast<http::status>(response_.status)))) + "\r\n";
  for (const auto& [name, value] : response_.headers) head_ += name + ": " + value + "\r\n";
  head_ += "Content-Length: " + std::to_string(bytes) + "\r\n";
  if (!keep) head_ += "Connection: close\r\n";
  else if (head.version() < 11) head_ += "Connection: keep-alive\r\n";
  head_ += "\r\n";
  std::vector<asio::const_buffer> buffers = {asio::buffer(head_)};
  if (head.method() != http::verb::head)
    for (const BodyPart& part : response_.body) buffers.emplace_back(part.bytes.data(), part.bytes.size());
  stream_.expires_after(patience(port_->limits, bytes));
  asio::async_write(stream_, buffers, [self = shared_from_this(), keep](ErrorCode error, std::size_t) {
    self->response_ = {};
    if (error) return self->close();
    if (keep) return self->wait_for_request();
    if (!self->must_close_) return self->close();
    self->stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
    self->drain(self->port_->limits.body_bytes);
  });
}

// A connection that is closed while the client still sends loses the response: what comes is read, within limits.
void Connection::drain(std::size_t left) {
  if (left == 0) return close();
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(std::min<std::size_t>(left, 65536)), [self = shared_from_this(), left](ErrorCode error,
      std::size_t bytes) {
    if (error) return self->close();
    self->drain(left - std::min(left, bytes));
  });
}

}  // namespace

void start_connection(asio::ip::tcp::socket socket, std::shared_ptr<const HttpPort> port) {
  ++port->open->count;
  const auto connection = std::make_shared<Connection>(std::move(socket), port);
  port->open->add(connection);
  connection->start();
}

}  // namespace tenfold::server
