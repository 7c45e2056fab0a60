// HttpReader: requests in the bytes of a connection, without its socket. Files that include this compile Beast.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "net/byte_budget.h"
#include "net/compression.h"
#include "net/http_message.h"
#include "net/http_server.h"
#include "net/padded_body.h"

namespace tenfold::server {

class HttpReader {
 public:
  enum class Step : std::uint8_t {
    more,                                         // it needs more bytes
    head,                                         // request() has all but the body; once for each request
    whole,                                        // take() has the request
    refused,                                      // as refusal_status() and refusal() say; nothing can be read after it
    overloaded,                                   // the budget is taken; likewise
  };
  // `budget`, which may be null: bytes of bodies are taken from it as they arrive, and given back with the body's memory.
  HttpReader(const HttpLimits& limits, std::shared_ptr<ByteBudget> budget) : limits_(limits), budget_(std::move(budget)) { begin(); }
  void begin();                                   // the next request
  void push(std::string_view bytes);              // they must stay until keep()
  void keep();                                    // copies what is left of them
  std::size_t unread() const { return size_ - at_; }
  Step next();

  const HttpRequest& request() const { return request_; }
  HttpRequest take() { return std::move(request_); }
  std::uint64_t body_bytes() const;               // what the body has at most, by its head
  bool has_length() const { return parser_->content_length().has_value(); }
  bool body_is_read() const { return parser_->is_done(); }
  bool expects_continue() const { return expects_continue_; }
  bool keep_alive() const { return parser_->keep_alive(); }
  bool is_version_10() const { return parser_->get().version() < 11; }
  bool is_head_request() const { return parser_->get().method() == boost::beast::http::verb::head; }
  int refusal_status() const { return status_; }
  const std::string& refusal() const { return words_; }

 private:
  using Parser = boost::beast::http::request_parser<PaddedBody>;
  using ErrorCode = boost::beast::error_code;
  Step refuse(int status, std::string words);
  Step refuse(ErrorCode error);
  Step parse();
  Step after_head();
  Step after_body();

  const HttpLimits& limits_;
  std::shared_ptr<ByteBudget> budget_;
  std::shared_ptr<HeldBytes> held_;               // of this request's body
  std::optional<Parser> parser_;
  HttpRequest request_;
  Encoding encoding_ = Encoding::none;
  bool has_head_ = false, looks_again_ = false, expects_continue_ = false;
  std::size_t chunks_ = 0;
  std::function<void(std::uint64_t, boost::beast::string_view, ErrorCode&)> count_chunk_;
  int status_ = 0;
  std::string words_;
  Step ended_ = Step::more;                       // or why nothing more is read
  std::string rest_;
  const char* data_ = nullptr;                    // bytes that were pushed: rest_, or the caller's
  std::size_t size_ = 0, at_ = 0;
};

}  // namespace tenfold::server
