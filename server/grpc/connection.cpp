// A call's way: headers, messages, answers, trailers.
#include "grpc/connection.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>

#include "grpc/http2.h"
#include "grpc/stream_call.h"

namespace tenfold::server::grpc {
namespace {

constexpr std::chrono::seconds kCheckEvery{1};
constexpr const char* kAcceptEncoding = "identity, deflate, gzip";

bool known_encoding(const std::string& name) { return name.empty() || name == "identity" || name == "gzip" || name == "deflate"; }

CallStatus unknown_method(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (path.empty() || path[0] != '/' || slash == 0) return {StatusCode::unimplemented, "the path '" + path + "' is not /service/method"};
  return {StatusCode::unimplemented, "unknown method " + path.substr(slash + 1) + " of service " + path.substr(1, slash - 1) +
                                         ": server reflection lists what there is"};
}

}  // namespace

Stream* Connection::find(std::int32_t id) {
  const auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : it->second.get();
}

std::optional<CallStatus> Connection::check_headers(Stream& stream) {
  if (stream.headers > limits_.max_headers || stream.header_bytes > limits_.max_header_bytes)
    return CallStatus{StatusCode::resource_exhausted, "more than " + std::to_string(limits_.max_headers) + " headers or " +
                                                          std::to_string(limits_.max_header_bytes) + " bytes of headers"};
  if (draining_) return CallStatus{StatusCode::unavailable, "the server is shutting down"};
  if (!known_encoding(stream.encoding)) {
    stream.extra.emplace_back("grpc-accept-encoding", kAcceptEncoding);
    return CallStatus{StatusCode::unimplemented, "grpc-encoding '" + stream.encoding + "' is not known: " + kAcceptEncoding + " are"};
  }
  if (host_.admit)
    if (auto refusal = host_.admit(*stream.call, host_.from_this_machine)) return refusal;
  const auto service = host_.services->find(stream.call->path());
  if (service == host_.services->end()) return unknown_method(stream.call->path());
  stream.handler = &service->second;
  if (stream.timeout.empty()) return std::nullopt;
  const auto timeout = parse_timeout(stream.timeout);
  if (!timeout)
    return CallStatus{StatusCode::internal, "grpc-timeout '" + stream.timeout + "': up to 8 digits and one of H M S m u n are expected"};
  // A year is as good as any longer time, and cannot overflow.
  const auto deadline = Clock::now() + std::min<std::chrono::nanoseconds>(*timeout, std::chrono::hours(24 * 365));
  stream.call->set_deadline(deadline);
  deadlines_.emplace(deadline, stream.id);
  return std::nullopt;
}

void Connection::finish_over_budget(Stream& stream) {
  // In HTTP's words, and in those for which gRPC's own retries look.
  stream.extra = {{"retry-after", "1"}, {"grpc-retry-pushback-ms", "1000"}};
  finish(stream, {StatusCode::unavailable, "requests in flight have " + std::to_string(host_.budget->total()) +
                                               " bytes, which is the limit of the server: try again later"});
}

void Connection::open_call(Stream& stream) {
  stream.last_read = stream.last_written = Clock::now();
  next_check_ = std::min(next_check_, stream.last_read + kCheckEvery);
  if (stream.method != "POST") return refuse_http(stream, "405");
  if (!stream.content_type.starts_with("application/grpc")) return refuse_http(stream, "415");
  if (stream.accepts_gzip) stream.call->set_compression(limits_.compression_level);
  if (const auto refusal = check_headers(stream)) return finish(stream, *refusal);
  if (stream.handler->stream) {
    // The handler may finish the call at once; the stream is there all the same.
    stream.requests = stream.handler->stream(stream.call);
  }
}

void Connection::take_data(Stream* stream, std::string_view data) {
  nghttp2_session_consume_connection(session_, data.size());
  if (!stream) return;
  if (stream->finished || !stream->handler || data.empty()) {
    nghttp2_session_consume_stream(session_, stream->id, data.size());
    return;
  }
  stream->last_read = Clock::now();
  if (!host_.budget->take(data.size())) return finish_over_budget(*stream);
  stream->taken += data.size();
  stream->unconsumed += data.size();
  stream->reader.push(data);
  deliver(*stream);
}

// Hands on the messages that are there, as far as the handler may have them, and gives the client its window back.
void Connection::deliver(Stream& stream) {
  const auto may = [&] { return stream.in_work < limits_.max_messages_in_work && stream.out_bytes < limits_.max_unread_bytes; };
  Frame frame;
  while (!stream.finished && may() && stream.reader.next(frame))
    if (!deliver_one(stream, std::move(frame))) return;
  if (stream.finished) return;
  if (stream.reader.fault()) return finish(stream, *stream.reader.fault());
  if (stream.reader.waiting()) return;  // released() comes here again
  if (stream.unconsumed && !stream.remote_ended) nghttp2_session_consume_stream(session_, stream.id, stream.unconsumed);
  stream.unconsumed = 0;
  if (stream.remote_ended && !stream.end_delivered) end_of_requests(stream);
}

// false: the call was finished.
bool Connection::deliver_one(Stream& stream, Frame frame) {
  const auto fail = [&](StatusCode code, const std::string& why) {
    finish(stream, {code, why});
    return false;
  };
  std::size_t bytes = frame.bytes.size() + kPrefixBytes;
  if (frame.compressed) {
    if (stream.encoding.empty() || stream.encoding == "identity")
      return fail(StatusCode::internal, "a message is compressed, but grpc-encoding does not say how");
    bool too_long = false;
    auto text = inflate(frame.bytes, limits_.max_message_bytes, too_long);
    if (too_long)
      return fail(StatusCode::resource_exhausted,
                  "Received message larger than max after decompression (max " + std::to_string(limits_.max_message_bytes) + " bytes)");
    if (!text) return fail(StatusCode::internal, "a compressed message is damaged: grpc-encoding is '" + stream.encoding + "'");
    frame.bytes = std::move(*text);
    if (!host_.budget->take(frame.bytes.size())) {
      finish_over_budget(stream);
      return false;
    }
    host_.budget->give_back(bytes);
    stream.taken -= bytes;
    bytes = frame.bytes.size();
  } else {
    stream.taken -= bytes;
  }
  Message message{std::move(frame.bytes), stream.call->hold(bytes, stream.requests != nullptr)};
  if (stream.requests) {
    ++stream.in_work;
    stream.requests->on_message(std::move(message));
    return !stream.finished;
  }
  if (stream.request) return fail(StatusCode::unimplemented, "a second message in a call that takes one");
  stream.request = std::move(message);
  return true;
}

void Connection::end_of_requests(Stream& stream) {
  stream.end_delivered = true;
  if (stream.reader.partial()) return finish(stream, {StatusCode::internal, "the last message was cut off"});
  if (stream.requests) return stream.requests->on_end();
  if (!stream.request) return finish(stream, {StatusCode::unimplemented, "no message in a call that takes one"});
  Message request = std::move(*stream.request);
  stream.request.reset();
  stream.handler->unary(stream.call, std::move(request));
}

void Connection::released(std::int32_t id) {
  Stream* stream = find(id);
  if (!stream) return;
  --stream->in_work;
  if (!stream->finished) deliver(*stream);
  host_.wake();
}

void Connection::drop_requests(Stream& stream) {
  host_.budget->give_back(stream.taken);
  stream.taken = 0;
  stream.reader = FrameReader(limits_.max_message_bytes);
  stream.request.reset();
}

void Connection::send(std::int32_t id, std::string frame) {
  Stream* stream = find(id);
  if (!stream || stream->finished) return;
  if (stream->out.empty()) stream->last_written = Clock::now();
  stream->out_bytes += frame.size();
  host_.budget->add(frame.size());
  stream->out.push_back(std::move(frame));
  if (stream->response_started)
    nghttp2_session_resume_data(session_, id);
  else
    respond(*stream, false);
}

void Connection::finish(std::int32_t id, const CallStatus& status) {
  if (Stream* stream = find(id)) finish(*stream, status);
}

void Connection::finish(Stream& stream, const CallStatus& status) {
  if (stream.finished) return;
  stream.finished = true;
  stream.status = status;
  if (stream.call->deadline()) deadlines_.erase({*stream.call->deadline(), stream.id});
  drop_requests(stream);
  if (stream.unconsumed) nghttp2_session_consume_stream(session_, stream.id, stream.unconsumed);
  stream.unconsumed = 0;
  if (stream.response_started)
    nghttp2_session_resume_data(session_, stream.id);
  else
    respond(stream, true);
  stream.call->cancel();  // if it was not the handler that ended it, that learns of it here
  host_.wake();
}

// The client has left, or everything is sent.
void Connection::stream_closed(std::int32_t id) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  const std::unique_ptr<Stream> stream = std::move(it->second);
  streams_.erase(it);
  if (stream->call->deadline()) deadlines_.erase({*stream->call->deadline(), id});
  drop_requests(*stream);
  host_.budget->give_back(stream->out_bytes);
  stream->finished = true;
  stream->call->cancel();
}

bool Connection::tick(Clock::time_point now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const std::int32_t id = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    finish(id, {StatusCode::deadline_exceeded, "Deadline Exceeded"});
  }
  if (now < std::min(next_check_, next_due())) return true;
  next_check_ = now + kCheckEvery;
  if (!handshaken_ && now - opened_ > limits_.handshake_timeout) return false;
  if (pinged_ && now - last_received_ > limits_.keepalive_time + limits_.keepalive_timeout) return false;
  if (!pinged_ && now - last_received_ > limits_.keepalive_time) {
    pinged_ = true;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  }
  check_streams(now);
  host_.wake();
  return true;
}

void Connection::check_streams(Clock::time_point now) {
  std::vector<std::int32_t> slow_readers;
  for (const auto& [id, stream] : streams_) {
    const bool unary = stream->handler && stream->handler->unary;
    const bool reads = !stream->finished && !stream->end_delivered && (unary || (stream->reader.partial() && !stream->reader.waiting()));
    if (reads && now - stream->last_read > limits_.read_timeout) {
      finish(*stream, {StatusCode::deadline_exceeded,
                       "no byte of the request has arrived for " + std::to_string(limits_.read_timeout.count()) + " ms"});
    } else if ((stream->out_bytes || stream->finished) && now - stream->last_written > limits_.write_timeout) {
      slow_readers.push_back(id);
    }
  }
  for (const std::int32_t id : slow_readers) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

Connection::Clock::time_point Connection::next_due() const {
  // With nothing to watch but the client's silence, one look at the end of that is enough.
  Clock::time_point due = !streams_.empty() || !handshaken_ || draining_ ? next_check_
                          : pinged_ ? last_received_ + limits_.keepalive_time + limits_.keepalive_timeout + kCheckEvery
                                    : last_received_ + limits_.keepalive_time + kCheckEvery;
  if (!deadlines_.empty()) due = std::min(due, deadlines_.begin()->first);
  return due;
}

void Connection::close() {
  while (!streams_.empty()) stream_closed(streams_.begin()->first);
}

}  // namespace tenfold::server::grpc
