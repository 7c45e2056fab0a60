// HTTP/1.1 with keep-alive, as far as an answer with Content-Length needs it.
#include <strings.h>

#include <charconv>

#include "connection.h"

namespace tenfold::load {
namespace {

// The value of a header line of a head, which ends with an empty line.
std::string_view header(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at)) {
    at += 2;
    if (head.size() - at <= name.size() || head[at + name.size()] != ':' || ::strncasecmp(head.data() + at, name.data(), name.size()) != 0)
      continue;
    std::string_view value = head.substr(at + name.size() + 1);
    value = value.substr(0, value.find("\r\n"));
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
  }
  return {};
}

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class HttpConnection final : public Connection {
 public:
  using Connection::Connection;
  void send(std::string_view request) override { send_part(request, request.size()); }
  void send_part(std::string_view request, std::size_t bytes) override {
    in_.clear();
    out_.append(request.substr(0, bytes));
    write();
  }
  bool cancel() override { return false; }
  std::optional<Answer> advance() override {
    write();
    char buffer[1 << 16];
    std::size_t count = 0;
    while (open_ && read(buffer, sizeof buffer, count)) {
      in_.append(buffer, count);
      if (count < sizeof buffer) break;
    }
    return take_answer();
  }

 private:
  std::optional<Answer> take_answer() {
    const std::size_t end = in_.find("\r\n\r\n");
    if (end == std::string::npos) return std::nullopt;
    const std::string_view head = std::string_view(in_).substr(0, end + 2);
    const std::size_t length = number(header(head, "Content-Length"));
    if (in_.size() < end + 4 + length) return std::nullopt;
    Answer answer;
    answer.status = static_cast<int>(number(head.substr(std::min<std::size_t>(9, head.size()))));
    answer.ok = answer.status == 200;
    answer.refused = answer.status == 503 || answer.status == 429;
    answer.closes = header(head, "Connection") == "close";
    answer.body = in_.substr(end + 4, length);
    in_.erase(0, end + 4 + length);
    return answer;
  }

  std::string in_;
};

}  // namespace

std::unique_ptr<Connection> connect_http(const sockaddr_in& address) { return std::make_unique<HttpConnection>(address); }

}  // namespace tenfold::load
