#include "process/link.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tenfold::server {
namespace {

constexpr std::size_t kMaxWords = 1000;

}  // namespace

bool send(const Descriptor& link, Message message, std::string_view words) noexcept {
  char bytes[1 + kMaxWords] = {static_cast<char>(message)};
  const std::size_t count = std::min(words.size(), kMaxWords);
  if (count > 0) std::memcpy(bytes + 1, words.data(), count);
  return ::send(link.number(), bytes, 1 + count, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(1 + count);
}

std::optional<Packet> receive(const Descriptor& link, bool& ended) {
  char bytes[1 + kMaxWords];
  const auto got = ::recv(link.number(), bytes, sizeof bytes, MSG_DONTWAIT);
  ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  if (got <= 0) return std::nullopt;
  return Packet{static_cast<Message>(bytes[0]), std::string(bytes + 1, static_cast<std::size_t>(got) - 1)};
}

}  // namespace tenfold::server
