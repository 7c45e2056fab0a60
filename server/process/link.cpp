#include "process/link.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace tenfold::server {
namespace {

constexpr std::size_t kMaxWords = 1000;

[[noreturn]] void fail(const char* what) {
  const int error = errno;
  throw std::runtime_error(std::string("models of clients: ") + what + ": " + std::strerror(error));
}

union Control {                                  // room for a descriptor beside a packet
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

Descriptor descriptor_of(msghdr& message) {
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS) return {};
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof number);
  return Descriptor(number);
}

}  // namespace

bool send(const Descriptor& link, Message message, std::string_view words) noexcept {
  char bytes[1 + kMaxWords] = {static_cast<char>(message)};
  const std::size_t count = std::min(words.size(), kMaxWords);
  if (count > 0) std::memcpy(bytes + 1, words.data(), count);
  return ::send(link.number(), bytes, 1 + count, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(1 + count);
}

void send_changes(const Descriptor& link, const std::vector<ModelChange>& changes, bool may_wait) {
  const Descriptor file = file_of_changes(changes);
  char byte = static_cast<char>(Message::models);
  iovec part{&byte, 1};
  Control control{};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control.bytes, message.msg_controllen = sizeof control.bytes;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = file.number();
  std::memcpy(CMSG_DATA(header), &number, sizeof number);
  while (::sendmsg(link.number(), &message, MSG_NOSIGNAL | (may_wait ? 0 : MSG_DONTWAIT)) < 0)
    if (errno != EINTR) fail("sendmsg");
}

std::optional<Packet> receive(const Descriptor& link, bool& ended) {
  char bytes[1 + kMaxWords];
  iovec part{bytes, sizeof bytes};
  Control control{};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control.bytes, message.msg_controllen = sizeof control.bytes;
  const auto got = ::recvmsg(link.number(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  if (got <= 0) return std::nullopt;
  return Packet{static_cast<Message>(bytes[0]), std::string(bytes + 1, static_cast<std::size_t>(got) - 1), descriptor_of(message)};
}

Descriptor file_of_changes(const std::vector<ModelChange>& changes) {
  const std::string bytes = write_changes(changes);
  Descriptor file(::memfd_create("tenfold-models", MFD_CLOEXEC));
  if (!file) fail("memfd_create");
  for (std::size_t at = 0; at < bytes.size();) {
    const auto written = ::pwrite(file.number(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (written < 0 && errno != EINTR) fail("write");
    if (written > 0) at += static_cast<std::size_t>(written);
  }
  return file;
}

std::vector<ModelChange> changes_of_file(const Descriptor& file) {
  struct stat what{};
  if (::fstat(file.number(), &what) != 0) fail("fstat");
  std::string bytes(static_cast<std::size_t>(what.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const auto got = ::pread(file.number(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got == 0 || (got < 0 && errno != EINTR)) fail("read");
    if (got > 0) at += static_cast<std::size_t>(got);
  }
  return read_changes(bytes);
}

}  // namespace tenfold::server
