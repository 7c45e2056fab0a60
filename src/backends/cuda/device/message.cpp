// Messages between this process and its compiling helpers.
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "backends/cuda/device/helpers.h"

namespace tenfold::backends::cuda {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

bool send_all(int socket, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, data, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent, bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}
bool receive_all(int socket, char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, data, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got, bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

bool send_message(int socket, const Message& message) {
  char head[12];
  const std::uint64_t bytes = message.text.size();
  std::memcpy(head, &message.number, 4);
  std::memcpy(head + 4, &bytes, 8);
  return send_all(socket, head, sizeof head) && send_all(socket, message.text.data(), message.text.size());
}

bool receive_message(int socket, Message& message) {
  char head[12];
  std::uint64_t bytes = 0;
  if (!receive_all(socket, head, sizeof head)) return false;
  std::memcpy(&message.number, head, 4);
  std::memcpy(&bytes, head + 4, 8);
  if (bytes > kMostBytes) return false;
  message.text.resize(bytes);
  return receive_all(socket, message.text.data(), bytes);
}

}  // namespace tenfold::backends::cuda
