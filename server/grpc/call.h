// Handlers of calls: what a service implements. It sees bytes: which messages they are is the service's matter.
//
//   services["/pkg.Service/Method"] = {.unary = [](std::shared_ptr<Call> call, Message request) {
//     call->send(answer(request.bytes));           // or later, in any thread
//     call->finish({});
//   }};
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grpc/status.h"

namespace tenfold::server::grpc {

// A request message. Its bytes count as memory in use, and as work of its stream, until `hold` is released.
struct Message {
  std::string bytes;
  std::shared_ptr<const void> hold;
};

// A client's call. Thread safe but for path(), metadata() and deadline(), which do not change. After finish(), or when the client has left,
// the other functions do nothing.
class Call {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~Call() = default;
  virtual void send(std::string message) = 0;
  // The only or last message and the end, which leave together.
  virtual void answer(std::string message, CallStatus status) = 0;
  // Each call must be finished once, also one that was cancelled: until then it counts as one of its connection's.
  virtual void finish(CallStatus status) = 0;
  // `cancelled` is called once, in the connection's thread, if the client leaves or its deadline passes before finish(): at once where
  // that has happened already. A function that was set before is replaced.
  virtual void on_cancel(std::function<void()> cancelled) = 0;
  const std::string& path() const { return path_; }
  std::string_view metadata(std::string_view name) const;  // empty: not there
  std::optional<Clock::time_point> deadline() const { return deadline_; }

 protected:
  std::string path_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::optional<Clock::time_point> deadline_;
};

// The requests of a streaming call, in their order, in the connection's thread.
class RequestStream {
 public:
  virtual ~RequestStream() = default;
  virtual void on_message(Message message) = 0;
  virtual void on_end() = 0;  // the client sends no more
};

// One of the two is set.
struct Method {
  std::function<void(std::shared_ptr<Call>, Message)> unary;  // one request; any number of answers
  std::function<std::unique_ptr<RequestStream>(std::shared_ptr<Call>)> stream;
};
// Asked when a call's headers are there, before its messages are read; a status refuses it. It must be quick and thread safe.
using Admit = std::function<std::optional<CallStatus>(const Call& call, bool from_this_machine)>;
using Services = std::unordered_map<std::string, Method>;  // by "/package.Service/Method"

}  // namespace tenfold::server::grpc
