// A POST over HTTP/1.1, for the thread that sends traces: the answer's status is all that is read of it.
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "observe/otlp.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using Clock = std::chrono::steady_clock;

struct Failed {
  std::string why;
};

class Socket {
 public:
  Socket(const TraceUrl& url, const std::atomic<Clock::time_point>& until) : until_(until) {
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    if (const int code = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &wanted, &found); code != 0)
      throw Failed{url.host + " is not known: " + ::gai_strerror(code)};
    int error = 0;
    for (const addrinfo* at = found; at && socket_ < 0; at = at->ai_next) error = connect(*at);
    ::freeaddrinfo(found);
    if (socket_ < 0) throw Failed{url.host + ":" + url.port + " does not answer: " + std::strerror(error)};
  }
  ~Socket() {
    if (socket_ >= 0) ::close(socket_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void send_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0)
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      else
        after_failure(errno, POLLOUT);
    }
  }
  std::string first_line() {
    std::string answer;
    while (answer.find("\r\n") == std::string::npos) {
      char bytes[512];
      const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
      if (got == 0 || answer.size() > 4096) throw Failed{"the collector's answer is no HTTP"};
      if (got > 0)
        answer.append(bytes, static_cast<std::size_t>(got));
      else
        after_failure(errno, POLLIN);
    }
    return answer.substr(0, answer.find("\r\n"));
  }

 private:
  int connect(const addrinfo& to) {
    socket_ = ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol);
    if (socket_ < 0) return errno;
    int error = ::connect(socket_, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      error = ETIMEDOUT;
      socklen_t size = sizeof error;
      if (wait(POLLOUT)) ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error != 0) ::close(std::exchange(socket_, -1));
    return error;
  }
  bool wait(short what) {
    constexpr int kTurnMs = 50;
    pollfd poll{socket_, what, 0};
    while (Clock::now() < std::min(until_.load(), last_))
      if (::poll(&poll, 1, kTurnMs) > 0) return true;
    return false;
  }
  void after_failure(int error, short what) {
    if (error == EINTR) return;
    if (error != EAGAIN) throw Failed{std::string("the connection to the collector broke: ") + std::strerror(error)};
    if (!wait(what)) throw Failed{"the collector takes too long"};
  }

  const std::atomic<Clock::time_point>& until_;
  const Clock::time_point last_ = Clock::now() + std::chrono::seconds(10);
  int socket_ = -1;
};

}  // namespace

TraceUrl parse_trace_url(const std::string& url) {
  std::string rest = url;
  if (rest.starts_with("https://"))
    throw Error(ErrorKind::invalid_argument,
                "traces go over http only, not to '" + url + "': run an OpenTelemetry collector beside the server");
  if (rest.starts_with("http://")) rest = rest.substr(7);
  TraceUrl parsed;
  const std::size_t slash = rest.find('/');
  parsed.path = slash == std::string::npos ? "/v1/traces" : rest.substr(slash);
  const std::string authority = rest.substr(0, slash);
  const std::size_t bracket = authority.find(']'), colon = authority.rfind(':');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  parsed.host = authority.substr(0, has_port ? colon : authority.size());
  parsed.port = has_port ? authority.substr(colon + 1) : "4318";
  if (parsed.host.starts_with('[') && parsed.host.ends_with(']')) parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  const bool digits =
      !parsed.port.empty() && std::all_of(parsed.port.begin(), parsed.port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (parsed.host.empty() || !digits || url.find_first_of(" \r\n@") != std::string::npos)
    throw Error(ErrorKind::invalid_argument, "the URL for traces is HOST:PORT/PATH, not '" + url + "'");
  return parsed;
}

std::string post_json(const TraceUrl& url, const std::string& body, const std::atomic<Clock::time_point>& until) {
  try {
    Socket socket(url, until);
    socket.send_all("POST " + url.path + " HTTP/1.1\r\nHost: " + url.host + ":" + url.port +
                    "\r\nContent-Type: application/json\r\nUser-Agent: tenfold-server\r\nConnection: close\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n");
    socket.send_all(body);
    const std::string line = socket.first_line();
    return line.size() > 9 && line[9] == '2' ? "" : "the collector at " + url.host + ":" + url.port + " answers '" + line + "'";
  } catch (const Failed& failed) {
    return failed.why;
  }
}

}  // namespace tenfold::server
