// StreamCall: what a handler has of a stream. It may outlive both the stream and the connection.
#pragma once

#include <mutex>

#include "grpc/connection.h"

namespace tenfold::server::grpc {

class StreamCall final : public Call, public std::enable_shared_from_this<StreamCall> {
 public:
  StreamCall(Connection& connection, std::int32_t id);
  ~StreamCall() override;
  void send(std::string message) override;
  void answer(std::string message, CallStatus status) override;
  void finish(CallStatus status) override;
  void on_cancel(std::function<void()> cancelled) override;
  void cancel();  // the client has left, or the deadline has passed

  void add_metadata(std::string_view name, std::string_view value) { metadata_.emplace_back(name, value); }
  void set_path(std::string path) { path_ = std::move(path); }
  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
  void set_compression(int level) { compression_level_ = level; }
  // Holds memory that a message has, and its place among the messages in work.
  std::shared_ptr<const void> hold(std::size_t bytes, bool counts);

 private:
  struct Held;
  void hand_over();
  void end(CallStatus status);                   // with the mutex locked

  const std::weak_ptr<Connection> connection_;
  const std::function<void(std::function<void()>)> post_;
  const std::shared_ptr<ByteBudget> budget_;
  const std::shared_ptr<std::atomic<std::uint32_t>> calls_;
  const std::int32_t id_;
  int compression_level_ = 0;
  std::mutex mutex_;
  std::function<void()> cancelled_;
  std::vector<std::string> frames_;              // to send
  std::optional<CallStatus> end_;
  bool is_cancelled_ = false, is_finished_ = false;
};

}  // namespace tenfold::server::grpc
