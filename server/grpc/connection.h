// Connection: gRPC on one HTTP/2 connection, without its socket: bytes in, bytes out, and the time. All functions are called in one
// thread, but those of the calls that it makes.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "grpc/call.h"
#include "grpc/frames.h"
#include "grpc/limits.h"

struct nghttp2_session;

namespace tenfold::server::grpc {

struct Http2;  // nghttp2's callbacks
class StreamCall;

// A call as the connection has it, from its headers to the end of its HTTP/2 stream.
struct Stream {
  Stream(std::int32_t id, std::size_t max_message_bytes) : id(id), reader(max_message_bytes) {}

  std::int32_t id;
  std::string method, content_type, encoding, timeout;
  bool accepts_gzip = false;
  std::size_t header_bytes = 0, headers = 0;

  std::shared_ptr<StreamCall> call;  // null: not opened, or refused
  const Method* handler = nullptr;
  std::unique_ptr<RequestStream> requests;  // of a streaming handler
  std::optional<Message> request;           // of a unary handler, until the client has ended
  FrameReader reader;
  std::size_t taken = 0;       // of the budget, for bytes in the reader
  std::size_t unconsumed = 0;  // bytes for which the client has not got its window back
  std::size_t in_work = 0;     // messages that the handler holds
  bool remote_ended = false, end_delivered = false;
  Call::Clock::time_point last_read, last_written;

  std::deque<std::string> out;                // frames to send
  std::size_t out_offset = 0, out_bytes = 0;  // what of the first one is sent; what is left of all
  bool response_started = false, finished = false;
  CallStatus status;
  std::vector<std::pair<std::string, std::string>> extra;  // headers of a refusal
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = Call::Clock;
  // What is around it. `post` has functions called in its thread, later and in their order: answers of several threads keep theirs. `wake`
  // says that there may be output.
  struct Host {
    const Services* services = nullptr;
    std::shared_ptr<ByteBudget> budget;
    Admit admit;
    bool from_this_machine = false;
    std::function<void(std::function<void()>)> post;
    std::function<void()> wake;
  };

  Connection(Host host, const Limits& limits);
  ~Connection();
  void begin();  // once it is in a shared_ptr
  // false: the client broke the protocol. What is left to write says so; then the connection is to be closed.
  bool receive(std::string_view bytes);
  void write(std::string& out);        // appends what there is to send, up to about kWriteBytes
  bool ended() const;                  // nothing more is to be read or written
  Clock::time_point next_due() const;  // when tick() is to be called; max(): never
  bool tick(Clock::time_point now);    // false: close, for the client is gone
  void drain();                        // takes no new calls, and ends when those there are have
  void refuse_new();                   // the second half of it
  void close();                        // cancels all calls: the socket is gone
  std::size_t streams() const { return streams_.size(); }

  static constexpr std::size_t kWriteBytes = 256 << 10;

 private:
  friend struct Http2;
  friend class StreamCall;
  using Streams = std::map<std::int32_t, std::unique_ptr<Stream>>;

  void open_call(Stream& stream);
  std::optional<CallStatus> check_headers(Stream& stream);
  void take_data(Stream* stream, std::string_view data);
  void deliver(Stream& stream);
  bool deliver_one(Stream& stream, Frame frame);
  void end_of_requests(Stream& stream);
  void drop_requests(Stream& stream);
  void send(std::int32_t id, std::string message);
  void finish(std::int32_t id, const CallStatus& status);
  void finish(Stream& stream, const CallStatus& status);
  void respond(Stream& stream, bool trailers_only);
  void refuse_http(Stream& stream, const char* http_status);
  void stream_closed(std::int32_t id);
  void released(std::int32_t id);
  void calm();
  void finish_over_budget(Stream& stream);
  void check_streams(Clock::time_point now);
  Stream* find(std::int32_t id);

  Host host_;
  const Limits limits_;
  nghttp2_session* session_ = nullptr;
  Streams streams_;
  std::set<std::pair<Clock::time_point, std::int32_t>> deadlines_;
  std::shared_ptr<std::atomic<std::uint32_t>> calls_ = std::make_shared<std::atomic<std::uint32_t>>(0);  // opened and not finished
  std::string* out_ = nullptr;                                                                           // while write() runs
  bool handshaken_ = false, failed_ = false, draining_ = false;
  bool pinged_ = false;
  Clock::time_point opened_, last_received_, next_check_;
  // An ordinary client sends a few of these a second; cancelled calls, which come more often, are bounded by max_streams first.
  TokenBucket control_{200, 50}, resets_{2000, 500}, empty_{1000, 200};
};

}  // namespace tenfold::server::grpc
