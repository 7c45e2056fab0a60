// Http2: what nghttp2 calls, and what it is given of headers.
#pragma once

#include <nghttp2/nghttp2.h>

#include "grpc/connection.h"

namespace tenfold::server::grpc {

struct Http2 {
  static nghttp2_session* open(Connection& connection);
  // DATA of the answers, and the trailers behind it.
  static ssize_t read_answers(nghttp2_session*, std::int32_t id, std::uint8_t*, std::size_t length, std::uint32_t* flags,
                              nghttp2_data_source* source, void* user);

 private:
  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size, std::uint8_t flags, void* user);
  static int frame_begins(nghttp2_session*, const nghttp2_frame_hd* header, void* user);
  static int frame_came(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int data_came(nghttp2_session*, std::uint8_t flags, std::int32_t id, const std::uint8_t* data, std::size_t size, void* user);
  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int stream_closes(nghttp2_session*, std::int32_t id, std::uint32_t error, void* user);
  static ssize_t write(nghttp2_session*, const std::uint8_t* data, std::size_t size, int flags, void* user);
  static int write_data(nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* header, std::size_t length, nghttp2_data_source*,
                        void* user);
  static ssize_t data_length(nghttp2_session*, std::uint8_t type, std::int32_t id, std::int32_t session_window, std::int32_t stream_window,
                             std::uint32_t max_frame, void* user);
};

// Keeps the texts alive only while nghttp2 is called, which copies them.
inline nghttp2_nv header_of(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())), reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace tenfold::server::grpc
