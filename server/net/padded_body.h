// A body for Beast's parser: one piece of memory, with room behind it for parsers that read beyond the end.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstring>

#include "net/http_message.h"

namespace tenfold::server {

struct PaddedBody {
  static constexpr std::size_t kFirstPart = 1 << 20;
  struct value_type {
    std::shared_ptr<std::byte[]> data;
    std::size_t size = 0, capacity = 0, expected = 0;
    void reserve(std::size_t bytes) {
      if (bytes <= capacity && data) return;
      auto larger = std::make_shared_for_overwrite<std::byte[]>(bytes + kBodyPadding);
      if (size > 0) std::memcpy(larger.get(), data.get(), size);
      data = std::move(larger), capacity = bytes;
    }
  };

  class reader {
   public:
    template <bool is_request, class Fields>
    explicit reader(boost::beast::http::header<is_request, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& length, boost::beast::error_code& error) {
      error = {};
      // The parser has checked its limit. For a long body a client has to send the first part before there is memory for the rest.
      body_.expected = length ? static_cast<std::size_t>(*length) : 0;
      body_.reserve(std::min(body_.expected, kFirstPart));
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      error = {};
      const std::size_t more = boost::asio::buffer_size(buffers);
      if (body_.size + more > body_.capacity) 
        body_.reserve(std::max(body_.size + more, body_.expected > body_.capacity ? body_.expected : body_.capacity * 2));
      boost::asio::buffer_copy(boost::asio::buffer(body_.data.get() + body_.size, more), buffers);
      body_.size += more;
      return more;
    }
    void finish(boost::beast::error_code& error) {
      error = {};
      body_.reserve(body_.size);
      std::memset(body_.data.get() + body_.size, 0, kBodyPadding);
    }

   private:
    value_type& body_;
  };
};

}  // namespace tenfold::server
