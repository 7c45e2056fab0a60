// Calls tell their connection in its thread.
#include "grpc/stream_call.h"

namespace tenfold::server::grpc {

std::string_view Call::metadata(std::string_view name) const {
  for (const auto& [key, value] : metadata_)
    if (key == name) return value;
  return {};
}

struct StreamCall::Held {
  std::shared_ptr<StreamCall> call;
  std::size_t bytes;
  bool counts;
  Held(std::shared_ptr<StreamCall> call, std::size_t bytes, bool counts) : call(std::move(call)), bytes(bytes), counts(counts) {}
  Held(const Held&) = delete;
  ~Held() {
    call->budget_->give_back(bytes);
    if (!counts) return;
    // Later: a handler that lets a message go at once would have itself called with the next one.
    call->post_([connection = call->connection_, id = call->id_] {
      if (const auto there = connection.lock()) there->released(id);
    });
  }
};

StreamCall::StreamCall(Connection& connection, std::int32_t id)
    : connection_(connection.weak_from_this()),
      post_(connection.host_.post),
      budget_(connection.host_.budget),
      calls_(connection.calls_),
      id_(id) {
  ++*calls_;
}

StreamCall::~StreamCall() {
  if (!is_finished_) --*calls_;
}

std::shared_ptr<const void> StreamCall::hold(std::size_t bytes, bool counts) {
  return std::make_shared<const Held>(shared_from_this(), bytes, counts);
}

// What several threads post has no order among them, so answers stand in a list of the call's.
void StreamCall::hand_over() {
  std::vector<std::string> frames;
  std::optional<CallStatus> end;
  {
    const std::lock_guard lock(mutex_);
    frames.swap(frames_);
    end.swap(end_);
  }
  const auto connection = connection_.lock();
  if (!connection) return;
  for (std::string& frame : frames) connection->send(id_, std::move(frame));
  if (end) connection->finish(id_, *end);
  connection->host_.wake();
}

void StreamCall::send(std::string message) {
  // The frame is made here, so that the connection's thread does not compress.
  std::string frame = write_frame(std::move(message), compression_level_);
  {
    const std::lock_guard lock(mutex_);
    frames_.push_back(std::move(frame));
    if (frames_.size() > 1) return;              // it is on its way already
  }
  post_([self = shared_from_this()] { self->hand_over(); });
}

void StreamCall::answer(std::string message, CallStatus status) {
  std::string frame = write_frame(std::move(message), compression_level_);
  {
    const std::lock_guard lock(mutex_);
    if (is_finished_) return;
    frames_.push_back(std::move(frame));
    end(std::move(status));
  }
  --*calls_;
  post_([self = shared_from_this()] { self->hand_over(); });
}

void StreamCall::end(CallStatus status) {
  is_finished_ = true;
  cancelled_ = nullptr;
  end_ = std::move(status);
}

void StreamCall::finish(CallStatus status) {
  {
    const std::lock_guard lock(mutex_);
    if (is_finished_) return;
    end(std::move(status));
  }
  --*calls_;
  post_([self = shared_from_this()] { self->hand_over(); });
}

void StreamCall::on_cancel(std::function<void()> cancelled) {
  {
    const std::lock_guard lock(mutex_);
    if (is_finished_) return;
    if (!is_cancelled_) {
      cancelled_ = std::move(cancelled);
      return;
    }
  }
  if (cancelled) post_(std::move(cancelled));
}

void StreamCall::cancel() {
  std::function<void()> call;
  {
    const std::lock_guard lock(mutex_);
    if (is_cancelled_ || is_finished_) return;
    is_cancelled_ = true;
    call = std::move(cancelled_);
    cancelled_ = nullptr;
  }
  if (call) call();
}

}  // namespace tenfold::server::grpc
