// HTTP/2 under the calls: frames that come and go, floods, the end of a connection.
#include "grpc/http2.h"

#include <algorithm>
#include <array>

#include "grpc/stream_call.h"

namespace tenfold::server::grpc {
namespace {

constexpr std::size_t kMaxDataFrame = 64 << 10;

std::string_view text(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }
Connection& connection_of(void* user) { return *static_cast<Connection*>(user); }

std::array<nghttp2_nv, 2> trailers(const std::string& code, const std::string& message) {
  return {header_of("grpc-status", code), header_of("grpc-message", message)};
}

}  // namespace

nghttp2_session* Http2::open(Connection& connection) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) || nghttp2_option_new(&option)) throw std::bad_alloc();
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, frame_begins);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_came);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data_came);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frame_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closes);
  nghttp2_session_callbacks_set_send_callback(callbacks, write);
  nghttp2_session_callbacks_set_send_data_callback(callbacks, write_data);
  nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, data_length);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);  // they would be kept for priorities, which gRPC does not use
  nghttp2_option_set_max_outbound_ack(option, 100);
  // Its own limit, 33 a second, is below what a client cancels that gives up on its slowest calls: resets_ counts instead.
  nghttp2_option_set_stream_reset_rate_limit(option, 1 << 30, 1 << 30);
  nghttp2_session* session = nullptr;
  const int failed = nghttp2_session_server_new2(&session, callbacks, &connection, option);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_option_del(option);
  if (failed) throw std::bad_alloc();
  return session;
}

int Http2::frame_begins(nghttp2_session*, const nghttp2_frame_hd* header, void* user) {
  Connection& connection = connection_of(user);
  const auto now = Call::Clock::now();
  bool allowed = true;
  switch (header->type) {
    case NGHTTP2_RST_STREAM: allowed = connection.resets_.take(now); break;
    case NGHTTP2_SETTINGS:
    case NGHTTP2_PING:
    case NGHTTP2_CONTINUATION:
    case NGHTTP2_GOAWAY: allowed = connection.control_.take(now); break;
    case NGHTTP2_PRIORITY: allowed = connection.empty_.take(now); break;
    case NGHTTP2_DATA: allowed = header->length > 0 || (header->flags & NGHTTP2_FLAG_END_STREAM) || connection.empty_.take(now); break;
    default: break;
  }
  if (!allowed) connection.calm();
  return 0;
}

int Http2::begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
  Connection& connection = connection_of(user);
  if (frame->headers.cat != NGHTTP2_HCAT_REQUEST || connection.failed_) return 0;
  const std::int32_t id = frame->hd.stream_id;
  // Work that goes on after its client has cancelled counts, so that cancelling does not get a client more than others have.
  if (*connection.calls_ >= connection.limits_.max_streams) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    if (!connection.resets_.take(Call::Clock::now())) connection.calm();
    return 0;
  }
  auto stream = std::make_unique<Stream>(id, connection.limits_.max_message_bytes);
  stream->call = std::make_shared<StreamCall>(connection, id);
  connection.streams_[id] = std::move(stream);
  return 0;
}

int Http2::header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name_data, std::size_t name_size,
                  const std::uint8_t* value_data, std::size_t value_size, std::uint8_t, void* user) {
  Connection& connection = connection_of(user);
  Stream* stream = connection.find(frame->hd.stream_id);
  if (!stream || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  stream->header_bytes += name_size + value_size + 32;  // as HTTP/2 counts them
  if (++stream->headers > connection.limits_.max_headers || stream->header_bytes > connection.limits_.max_header_bytes) return 0;
  const std::string_view name = text(name_data, name_size), value = text(value_data, value_size);
  if (name == ":path")
    stream->call->set_path(std::string(value));
  else if (name == ":method")
    stream->method = value;
  else if (name == "content-type")
    stream->content_type = value;
  else if (name == "grpc-encoding")
    stream->encoding = value;
  else if (name == "grpc-timeout")
    stream->timeout = value;
  else if (name == "grpc-accept-encoding")
    stream->accepts_gzip = list_has(value, "gzip");
  else if (!name.starts_with(':'))
    stream->call->add_metadata(name, value);
  return 0;
}

int Http2::frame_came(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  Connection& connection = connection_of(user);
  if (frame->hd.type == NGHTTP2_SETTINGS) connection.handshaken_ = true;
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  Stream* stream = connection.find(frame->hd.stream_id);
  if (!stream || connection.failed_) return 0;
  if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) stream->remote_ended = true;
  if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) connection.open_call(*stream);
  if (stream->remote_ended && !stream->finished && stream->handler) connection.deliver(*stream);
  return 0;
}

int Http2::data_came(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size, void* user) {
  Connection& connection = connection_of(user);
  connection.take_data(connection.find(id), text(data, size));
  return 0;
}

int Http2::frame_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
  if (frame->hd.type != NGHTTP2_HEADERS || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
  const Stream* stream = connection_of(user).find(frame->hd.stream_id);
  // The answer is whole and the request is not: the client need not send the rest.
  if (stream && !stream->remote_ended) nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
  return 0;
}

int Http2::stream_closes(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
  connection_of(user).stream_closed(id);
  return 0;
}

ssize_t Http2::write(nghttp2_session*, const std::uint8_t* data, std::size_t size, int, void* user) {
  std::string& out = *connection_of(user).out_;
  if (out.size() >= Connection::kWriteBytes) return NGHTTP2_ERR_WOULDBLOCK;
  out.append(text(data, size));
  return static_cast<ssize_t>(size);
}

ssize_t Http2::data_length(nghttp2_session*, std::uint8_t, std::int32_t, std::int32_t session_window, std::int32_t stream_window,
                           std::uint32_t max_frame, void*) {
  return std::min<ssize_t>({session_window, stream_window, static_cast<ssize_t>(max_frame), static_cast<ssize_t>(kMaxDataFrame)});
}

ssize_t Http2::read_answers(nghttp2_session* session, std::int32_t id, std::uint8_t*, std::size_t length, std::uint32_t* flags,
                            nghttp2_data_source* source, void*) {
  auto& stream = *static_cast<Stream*>(source->ptr);
  const std::size_t size = std::min(length, stream.out_bytes);
  if (size == 0 && !stream.finished) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (size == stream.out_bytes && stream.finished) {
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const std::string code = std::to_string(static_cast<int>(stream.status.code)), message = percent_encode(stream.status.message);
    const auto fields = trailers(code, message);
    nghttp2_submit_trailer(session, id, fields.data(), message.empty() ? 1 : 2);
  }
  return static_cast<ssize_t>(size);
}

int Http2::write_data(nghttp2_session*, nghttp2_frame*, const std::uint8_t* header, std::size_t length, nghttp2_data_source* source,
                      void* user) {
  Connection& connection = connection_of(user);
  auto& stream = *static_cast<Stream*>(source->ptr);
  std::string& out = *connection.out_;
  if (out.size() >= Connection::kWriteBytes) return NGHTTP2_ERR_WOULDBLOCK;
  out.append(text(header, 9));
  const bool was_full = stream.out_bytes >= connection.limits_.max_unread_bytes;
  while (length > 0) {
    const std::string& first = stream.out.front();
    const std::string_view piece = std::string_view(first).substr(stream.out_offset, length);
    out.append(piece);
    length -= piece.size();
    stream.out_bytes -= piece.size();
    connection.host_.budget->give_back(piece.size());
    stream.out_offset += piece.size();
    if (stream.out_offset < first.size()) break;
    stream.out.pop_front();
    stream.out_offset = 0;
  }
  stream.last_written = Call::Clock::now();
  if (was_full && stream.out_bytes < connection.limits_.max_unread_bytes)
    connection.host_.post([weak = connection.weak_from_this(), id = stream.id] {
      if (const auto there = weak.lock())
        if (Stream* reads = there->find(id); reads && !reads->finished) there->deliver(*reads);
    });
  return 0;
}

Connection::Connection(Host host, const Limits& limits) : host_(std::move(host)), limits_(limits), session_(Http2::open(*this)) {
  opened_ = last_received_ = Clock::now();
  next_check_ = opened_ + limits.handshake_timeout;
}

Connection::~Connection() {
  close();
  nghttp2_session_del(session_);
}

void Connection::begin() {
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.max_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits_.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits_.max_header_bytes)},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  // All calls of a connection share its window. It is given back at once: calls are held back by their own.
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(limits_.stream_window * 4));
}

bool Connection::receive(std::string_view bytes) {
  if (failed_) return false;
  last_received_ = Clock::now();
  pinged_ = false;
  const ssize_t used = nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used < 0 && !failed_) {
    failed_ = true;
    const bool flood = used == NGHTTP2_ERR_FLOODED || used == NGHTTP2_ERR_NOMEM || handshaken_;
    nghttp2_session_terminate_session(session_, flood ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
  }
  return !failed_;
}

void Connection::write(std::string& out) {
  out_ = &out;
  nghttp2_session_send(session_);
  out_ = nullptr;
}

bool Connection::ended() const {
  return (!nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_)) ||
         (draining_ && streams_.empty() && !nghttp2_session_want_write(session_));
}

// The client sends more frames of one kind than any needs.
void Connection::calm() {
  if (failed_) return;
  failed_ = true;
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
}

void Connection::drain() {
  nghttp2_submit_shutdown_notice(session_);
  host_.wake();
}

void Connection::refuse_new() {
  draining_ = true;
  next_check_ = std::min(next_check_, Clock::now() + std::chrono::seconds(1));
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR, nullptr, 0);
  host_.wake();
}

// The headers of an answer: alone, if there is nothing but the status, or with answers behind them.
void Connection::respond(Stream& stream, bool trailers_only) {
  stream.response_started = true;
  const std::string code = std::to_string(static_cast<int>(stream.status.code)), message = percent_encode(stream.status.message);
  std::vector<nghttp2_nv> fields = {header_of(":status", "200"), header_of("content-type", "application/grpc")};
  if (trailers_only) {
    for (const nghttp2_nv& field : trailers(code, message))
      if (field.valuelen) fields.push_back(field);
    for (const auto& [name, value] : stream.extra) fields.push_back(header_of(name, value));
    nghttp2_submit_response(session_, stream.id, fields.data(), fields.size(), nullptr);
    return;
  }
  fields.push_back(header_of("grpc-accept-encoding", "identity, deflate, gzip"));
  if (stream.accepts_gzip && limits_.compression_level) fields.push_back(header_of("grpc-encoding", "gzip"));
  nghttp2_data_provider provider{.source = {.ptr = &stream}, .read_callback = Http2::read_answers};
  nghttp2_submit_response(session_, stream.id, fields.data(), fields.size(), &provider);
}

void Connection::refuse_http(Stream& stream, const char* http_status) {
  stream.finished = stream.response_started = true;
  const nghttp2_nv fields[] = {header_of(":status", http_status)};
  nghttp2_submit_response(session_, stream.id, fields, std::size(fields), nullptr);
  host_.wake();
}

}  // namespace tenfold::server::grpc
