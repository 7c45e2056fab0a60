// Messages between this process and its compiling helpers.
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "backends/cuda/device/helpers.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

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

std::string pack_source(std::string_view source, const std::vector<KernelFile>& files) {
  std::string packed = cat(files.size(), " ");
  const auto add = [&](std::string_view part) { packed += cat(part.size(), " ", part); };
  add(source);
  for (const KernelFile& file : files) add(file.name), add(file.text);
  return packed;
}
PackedSource unpack_source(std::string_view packed) {
  const auto number = [&] {
    std::size_t n = 0;
    const auto [end, error] = std::from_chars(packed.data(), packed.data() + packed.size(), n);
    packed.remove_prefix(static_cast<std::size_t>(end - packed.data()));
    check(error == std::errc() && packed.starts_with(' '), "a helper's source is cut off");
    packed.remove_prefix(1);
    return n;
  };
  const auto part = [&] {
    const std::size_t bytes = number();
    check(bytes <= packed.size(), "a helper's source is cut off");
    const std::string_view found = packed.substr(0, bytes);
    packed.remove_prefix(bytes);
    return found;
  };
  const std::size_t count = number();
  PackedSource all{std::string(part()), {}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = part();
    all.files.push_back({name, part()});
  }
  return all;
}

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
  if (bytes > kMaxBytes) return false;
  message.text.resize(bytes);
  return receive_all(socket, message.text.data(), bytes);
}

}  // namespace tenfold::backends::cuda
