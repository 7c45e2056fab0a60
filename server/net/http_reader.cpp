#include "net/http_reader.h"

#include <algorithm>
#include <cctype>

namespace tenfold::server {
namespace {

namespace http = boost::beast::http;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The memory, which gives back what it holds when nobody uses it any more.
std::shared_ptr<const std::byte[]> counted(std::shared_ptr<const std::byte[]> memory, std::shared_ptr<HeldBytes> held) {
  if (!held) return memory;
  const std::byte* data = memory.get();
  return {data, [memory = std::move(memory), held = std::move(held)](const std::byte*) {}};
}

}  // namespace

void HttpReader::begin() {
  parser_.emplace();
  looks_again_ = false;
  parser_->header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
  parser_->body_limit(limits_.body_bytes);
  if (!count_chunk_)
    count_chunk_ = [this](std::uint64_t, boost::beast::string_view, ErrorCode& error) {
      if (++chunks_ > limits_.chunks) error = http::error::body_limit;
    };
  parser_->on_chunk_header(count_chunk_);
  chunks_ = 0, has_head_ = expects_continue_ = false, ended_ = Step::more;
  held_.reset();
}

void HttpReader::push(std::string_view bytes) {
  if (unread() == 0) {
    data_ = bytes.data(), size_ = bytes.size(), at_ = 0;
    return;
  }
  keep();
  rest_.append(bytes);
  data_ = rest_.data(), size_ = rest_.size();
}

void HttpReader::keep() {
  // A pipeline is not moved for each of its requests.
  if (data_ == rest_.data() && unread() > 0 && at_ <= unread()) return;
  std::string left(data_ + at_, unread());
  rest_ = std::move(left);
  data_ = rest_.data(), size_ = rest_.size(), at_ = 0;
}

std::uint64_t HttpReader::body_bytes() const {
  const auto length = parser_->content_length();
  return length ? *length : parser_->chunked() ? limits_.body_bytes : 0;
}

HttpReader::Step HttpReader::refuse(int status, std::string words) {
  status_ = status, words_ = std::move(words);
  return ended_ = Step::refused;
}

HttpReader::Step HttpReader::refuse(ErrorCode error) {
  if (chunks_ > limits_.chunks) return refuse(413, "the body has more than " + std::to_string(limits_.chunks) + " chunks");
  if (error == http::error::body_limit) return refuse(413, "the body has more than " + std::to_string(limits_.body_bytes) + " bytes");
  if (error == http::error::header_limit) return refuse(431, "the head has more than " + std::to_string(limits_.header_bytes) + " bytes");
  return refuse(400, "malformed HTTP: " + error.message());
}

HttpReader::Step HttpReader::next() {
  while (ended_ == Step::more) {
    if (has_head_ && parser_->is_done()) return after_body();
    if (unread() == 0) break;
    const Step step = parse();
    if (step != Step::whole) return step;
  }
  return ended_;
}

// One piece. `whole`: there may be more to do.
HttpReader::Step HttpReader::parse() {
  // Beast asserts that all of "0\r\n\r\n" is there when it looks at a body without chunks again.
  constexpr std::size_t kLastChunk = 5;
  if (looks_again_ && parser_->chunked() && unread() < kLastChunk && data_[at_] == '0') return Step::more;
  ErrorCode error;
  std::size_t used = 0;
  try {
    used = parser_->put(boost::asio::const_buffer(data_ + at_, unread()), error);
  } catch (const std::bad_alloc&) {
    return ended_ = Step::overloaded;
  }
  at_ += used;
  const bool needs_more = error == http::error::need_more;
  looks_again_ = has_head_ && needs_more && used == 0;
  if (error && !needs_more) return refuse(error);
  if (!has_head_ && parser_->is_header_done()) return after_head();
  const std::size_t body = parser_->get().body().size;
  if (body > 0 && budget_) {
    if (!held_) held_ = std::make_shared<HeldBytes>(budget_);
    if (!held_->grow_to(body)) return ended_ = Step::overloaded;
  }
  // Heads of chunks, and what may stand behind the last one, have no limit of Beast's.
  if (has_head_ && unread() > limits_.header_bytes && (needs_more || used == 0))
    return refuse(400, "malformed HTTP: the head of a chunk has more than " + std::to_string(limits_.header_bytes) + " bytes");
  return needs_more || used == 0 ? Step::more : Step::whole;
}

HttpReader::Step HttpReader::after_head() {
  has_head_ = true;
  parser_->eager(true);
  const auto& head = parser_->get();
  request_ = {};
  request_.method = std::string(std::string_view(head.method_string()));
  request_.target = std::string(std::string_view(head.target()));
  for (const auto& field : head)
    request_.headers.emplace_back(lower(std::string_view(field.name_string())), std::string(std::string_view(field.value())));
  if (request_.headers.size() > limits_.headers)
    return refuse(431, "the request has more than " + std::to_string(limits_.headers) + " header lines");
  if (head.find(http::field::transfer_encoding) != head.end() && !parser_->chunked())
    return refuse(501, "this Transfer-Encoding is not supported: send chunked, or Content-Length");
  if ((head.method() == http::verb::post || head.method() == http::verb::put) && !parser_->chunked() && !parser_->content_length())
    return refuse(411, "the request has no Content-Length");
  const auto encoding = content_encoding(request_.header("content-encoding"));
  if (!encoding) return refuse(415, "this Content-Encoding is not supported: send gzip, deflate or identity");
  encoding_ = *encoding;
  expects_continue_ = lower(request_.header("expect")) == "100-continue";
  return Step::head;
}

HttpReader::Step HttpReader::after_body() {
  PaddedBody::value_type& body = parser_->get().body();
  body.reserve(body.size);                        // also where there is none
  request_.size = body.size;
  request_.body = counted(std::move(body.data), std::move(held_));
  body.size = body.capacity = 0;
  if (encoding_ != Encoding::none) {
    const Inflated inflated = inflate_body(request_, encoding_, limits_.body_bytes);
    if (inflated == Inflated::too_large)
      return refuse(413, "the body has more than " + std::to_string(limits_.body_bytes) + " bytes when it is decompressed");
    if (inflated == Inflated::damaged) return refuse(400, "the body cannot be decompressed as its Content-Encoding says");
    auto held = budget_ ? std::make_shared<HeldBytes>(budget_) : nullptr;
    if (held && !held->grow_to(request_.size)) return ended_ = Step::overloaded;
    request_.body = counted(std::move(request_.body), std::move(held));
  }
  ended_ = Step::whole;
  return Step::whole;
}

}  // namespace tenfold::server
