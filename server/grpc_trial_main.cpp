// A server for tests of the transport: services whose messages are plain bytes.
//   grpc_trial [NAME=VALUE...]    port, message (largest, bytes), streams, budget, gzip (level), read, write, keepalive (ms)
// It prints its port, and ends on SIGTERM as a server does: calls that there are have two seconds.
//   /trial.Trial/Echo    the request      EchoAll   a streaming Echo      Slow   answers after 300 ms, from another thread
//   /trial.Trial/Never   does not answer  Zeros   as many zero bytes as the request says in decimal
//   /trial.Trial/Seen    "cancelled N running M": calls of Never that were cancelled, and calls that run
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>

#include "grpc/server.h"
#include "protocol/grpc_health.h"
#include "protocol/grpc_reflection.h"

using namespace tenfold::server::grpc;

namespace {

std::atomic<int> cancelled, running;

class Echo final : public RequestStream {
 public:
  explicit Echo(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  void on_message(Message message) override { call_->send(std::move(message.bytes)); }
  void on_end() override { call_->finish({}); }

 private:
  std::shared_ptr<Call> call_;
};

void slow(std::shared_ptr<Call> call, Message message) {
  std::thread([call = std::move(call), message = std::move(message)] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    call->send(message.bytes);
    call->finish({});
  }).detach();
}

void never(const std::shared_ptr<Call>& call, Message) {
  ++running;
  call->on_cancel([call] {
    ++cancelled;
    --running;
    call->finish({StatusCode::cancelled, ""});
  });
}

Services trial_services() {
  Services services;
  const auto answer = [](const std::shared_ptr<Call>& call, std::string bytes) {
    call->send(std::move(bytes));
    call->finish({});
  };
  services["/trial.Trial/Echo"] = {
      .unary = [=](const std::shared_ptr<Call>& call, Message message) { answer(call, std::move(message.bytes)); }};
  services["/trial.Trial/EchoAll"] = {.stream = [](std::shared_ptr<Call> call) { return std::make_unique<Echo>(std::move(call)); }};
  services["/trial.Trial/Slow"] = {.unary = slow};
  services["/trial.Trial/Never"] = {.unary = never};
  services["/trial.Trial/Zeros"] = {.unary = [=](const std::shared_ptr<Call>& call, const Message& message) {
    answer(call, std::string(std::strtoul(message.bytes.c_str(), nullptr, 10), '\0'));
  }};
  services["/trial.Trial/Seen"] = {.unary = [=](const std::shared_ptr<Call>& call, const Message&) {
    answer(call, "cancelled " + std::to_string(cancelled) + " running " + std::to_string(running));
  }};
  services["/trial.Trial/Refuse"] = {.unary = [](const std::shared_ptr<Call>& call, const Message& message) {
    call->finish({StatusCode::failed_precondition, message.bytes});
  }};
  return services;
}

ServerOptions options_of(int argc, char** argv) {
  ServerOptions options{.port = 0};
  for (int i = 1; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (!equals) std::exit(2);
    const std::string name(argv[i], static_cast<std::size_t>(equals - argv[i]));
    const auto value = std::strtoul(equals + 1, nullptr, 10);
    if (name == "port")
      options.port = static_cast<std::uint16_t>(value);
    else if (name == "message")
      options.limits.max_message_bytes = value;
    else if (name == "streams")
      options.limits.max_streams = static_cast<std::uint32_t>(value);
    else if (name == "budget")
      options.budget = std::make_shared<tenfold::server::ByteBudget>(value);
    else if (name == "gzip")
      options.limits.compression_level = static_cast<int>(value);
    else if (name == "read")
      options.limits.read_timeout = options.limits.handshake_timeout = std::chrono::milliseconds(value);
    else if (name == "write")
      options.limits.write_timeout = std::chrono::milliseconds(value);
    else if (name == "keepalive")
      options.limits.keepalive_time = options.limits.keepalive_timeout = std::chrono::milliseconds(value);
    else
      std::exit(2);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::atomic<bool> serving = true;
  Health health([&](const std::string& service) { return service.empty() ? std::optional<bool>(serving) : std::nullopt; });
  Services services = trial_services();
  health.add_to(services);
  add_reflection(services);
  Server server(std::move(services), options_of(argc, argv));
  server.start();
  std::cout << server.port() << std::endl;
  for (int signal = 0; signal != SIGTERM;) {
    sigwait(&signals, &signal);
    if (signal == SIGUSR1) serving = !serving;  // what watchers of its health see
    health.changed();
  }
  health.end();
  server.stop(std::chrono::seconds(2));
}
