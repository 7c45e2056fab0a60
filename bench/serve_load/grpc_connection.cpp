// ModelInfer over nghttp2.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "connection.h"

namespace tenfold::load {
namespace {

constexpr std::size_t kPrefix = 5;   // in front of a message: whether it is compressed, and its length

nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view s) { return reinterpret_cast<std::uint8_t*>(const_cast<char*>(s.data())); };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(const sockaddr_in& address, std::string authority) : Connection(address), authority_(std::move(authority)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closed);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame);
    const int failed = nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    if (failed) throw std::bad_alloc();
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 4 << 20}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 16 << 20);
  }
  ~GrpcConnection() override { nghttp2_session_del(session_); }

  void send(std::string_view request) override { begin(request, kPrefix + request.size()); }
  void send_part(std::string_view request, std::size_t bytes) override { begin(request, std::min(bytes, kPrefix + request.size() - 1)); }
  bool cancel() override {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream_, NGHTTP2_CANCEL);
    stream_ = -1;
    flush();
    return true;
  }
  std::optional<Answer> advance() override {
    char buffer[1 << 16];
    std::size_t count = 0;
    while (open_ && read(buffer, sizeof buffer, count)) {
      if (nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(buffer), count) < 0) open_ = false;
      if (count < sizeof buffer) break;
    }
    flush();
    if (!done_) return std::nullopt;
    done_ = false;
    return std::move(answer_);
  }

 private:
  void begin(std::string_view request, std::size_t bytes) {
    const auto size = static_cast<std::uint32_t>(request.size());
    message_.assign(1, '\0');
    for (int shift = 24; shift >= 0; shift -= 8) message_ += static_cast<char>(size >> shift);
    message_.append(request);
    sent_ = 0, end_ = bytes;
    answer_ = {}, done_ = false;
    answer_.status = -1;
    const nghttp2_nv fields[] = {field(":method", "POST"), field(":scheme", "http"), field(":path", kPath),
                                 field(":authority", authority_), field("content-type", "application/grpc"), field("te", "trailers")};
    nghttp2_data_provider body{.source = {.ptr = this}, .read_callback = body_of};
    stream_ = nghttp2_submit_request(session_, nullptr, fields, std::size(fields), &body, nullptr);
    if (stream_ < 0) open_ = false;   // no stream number is left: a connection has 2^30
    flush();
  }
  void flush() {
    const std::uint8_t* bytes = nullptr;
    for (ssize_t size = 0; open_ && (size = nghttp2_session_mem_send(session_, &bytes)) > 0;)
      out_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    write();
  }

  static GrpcConnection& self(void* user) { return *static_cast<GrpcConnection*>(user); }
  static ssize_t body_of(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t room, std::uint32_t* flags, nghttp2_data_source*,
                         void* user) {
    GrpcConnection& c = self(user);
    const std::size_t size = std::min(room, c.end_ - c.sent_);
    std::memcpy(to, c.message_.data() + c.sent_, size);
    c.sent_ += size;
    if (c.sent_ == c.message_.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return size > 0 ? static_cast<ssize_t>(size) : ssize_t{NGHTTP2_ERR_DEFERRED};
  }
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    GrpcConnection& c = self(user);
    if (frame->hd.stream_id != c.stream_) return 0;
    const std::string_view key(reinterpret_cast<const char*>(name), name_size), text(reinterpret_cast<const char*>(value), value_size);
    if (key == "grpc-status") std::from_chars(text.data(), text.data() + text.size(), c.answer_.status);
    if (key == "grpc-message") c.why_ = text;
    return 0;
  }
  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes, std::size_t size, void* user) {
    GrpcConnection& c = self(user);
    if (id == c.stream_) c.answer_.body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }
  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    GrpcConnection& c = self(user);
    if (id != c.stream_) return 0;
    c.done_ = true;
    c.answer_.ok = c.answer_.status == 0;
    c.answer_.refused = c.answer_.status == 14 || c.answer_.status == 8;   // UNAVAILABLE, RESOURCE_EXHAUSTED
    c.answer_.closes = c.going_;
    if (!c.answer_.ok) c.answer_.body = std::move(c.why_);
    return 0;
  }
  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) self(user).going_ = true;
    return 0;
  }

  static constexpr std::string_view kPath = "/inference.GRPCInferenceService/ModelInfer";
  const std::string authority_;
  nghttp2_session* session_ = nullptr;
  std::int32_t stream_ = -1;
  std::string message_, why_;
  std::size_t sent_ = 0, end_ = 0;
  Answer answer_;
  bool done_ = false, going_ = false;
};

}  // namespace

std::unique_ptr<Connection> connect_grpc(const sockaddr_in& address, const std::string& authority) {
  return std::make_unique<GrpcConnection>(address, authority);
}

}  // namespace tenfold::load
