// libFuzzer target: gRPC's connection, from the bytes of HTTP/2 to calls and their answers. Behind the first byte, which says in what
// pieces they come, the input is what a client sends after its preface. Nothing that was taken of the budget is kept, each call ends.
#include <cstdlib>
#include <deque>

#include "grpc/connection.h"

using namespace tenfold::server;
using namespace tenfold::server::grpc;

namespace {

int open_calls = 0;

// A call that the server works on until it is cancelled.
void wait(const std::shared_ptr<Call>& call, Message message) {
  ++open_calls;
  auto held = std::make_shared<Message>(std::move(message));
  call->on_cancel([call, held] {
    --open_calls;
    call->finish({StatusCode::cancelled, ""});
  });
}

class Echo final : public RequestStream {
 public:
  explicit Echo(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  void on_message(Message message) override { call_->send(std::move(message.bytes)); }
  void on_end() override { call_->finish({}); }

 private:
  std::shared_ptr<Call> call_;
};

const Services& services() {
  static const Services made = {
      {"/t.T/Echo", {.unary = [](const std::shared_ptr<Call>& call, Message message) {
         call->send(std::move(message.bytes));
         call->finish({});
       }, .stream = nullptr}},
      {"/t.T/Wait", {.unary = wait, .stream = nullptr}},
      {"/t.T/Stream", {.unary = nullptr, .stream = [](std::shared_ptr<Call> call) { return std::make_unique<Echo>(std::move(call)); }}}};
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Limits limits;
  limits.max_message_bytes = 4096, limits.max_header_bytes = 2048, limits.max_headers = 20, limits.max_streams = 8;
  limits.max_messages_in_work = 4, limits.max_unread_bytes = 8192, limits.compression_level = data[0] & 1;
  const auto budget = std::make_shared<ByteBudget>(64 << 10);
  std::deque<std::function<void()>> posted;
  const auto run_posted = [&] {
    for (; !posted.empty(); posted.pop_front()) std::exchange(posted.front(), nullptr)();
  };
  {
    Connection::Host host;
    host.services = &services(), host.budget = budget;
    host.post = [&](std::function<void()> call) { posted.push_back(std::move(call)); };
    host.wake = [] {};
    const auto connection = std::make_shared<Connection>(std::move(host), limits);
    connection->begin();
    std::string out;
    const std::size_t piece = data[0] % 63 + 1;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    bool goes_on = connection->receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    for (std::size_t at = 0; at < bytes.size() && goes_on && !connection->ended(); at += piece) {
      goes_on = connection->receive(bytes.substr(at, piece));
      run_posted();
      out.clear();
      connection->write(out);
      if (out.size() > Connection::kWriteBytes * 2 || connection->streams() > limits.max_streams * 4) std::abort();
      if (at % 256 == 0 && !connection->tick(Connection::Clock::now())) break;
    }
    if (data[0] & 2) connection->refuse_new();
    out.clear();
    connection->write(out);
    connection->close();
    run_posted();
  }
  run_posted();
  if (budget->taken() != 0 || open_calls != 0) std::abort();
  return 0;
}
