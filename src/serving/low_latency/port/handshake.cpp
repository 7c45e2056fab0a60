// Offers as bytes, and files as attachments.
#include "low_latency/port/handshake.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/check.h"
#include "base/system_error.h"
#include "base/types/utf8.h"
#include "tenfold/version.h"

namespace tenfold::low_latency {
namespace {

constexpr std::size_t kLongestOffer = 64 << 10;
constexpr std::uint64_t kMagic = 0x32'54'52'4f'50'46'54;   // "TFPORT2"

struct Writer {
  std::string bytes;
  template <class T>
  void number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);   // both sides are one machine
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes.append(text);
  }
};

struct Reader {
  std::string_view left;
  std::string_view take(std::size_t size) {
    require(size <= left.size(), ErrorKind::invalid_argument, "the server's answer ends too early");
    const std::string_view taken = left.substr(0, size);
    left.remove_prefix(size);
    return taken;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }
};

BindingInfo read_binding(Reader& in) {
  BindingInfo b;
  b.name = in.text();
  require(is_utf8(b.name), ErrorKind::invalid_argument, "the server's answer has a name that is no UTF-8: '", readable(b.name), "'");
  const auto dtype = in.number<std::uint8_t>();
  require(dtype < static_cast<std::uint8_t>(DType::count_), ErrorKind::invalid_argument, "the server's answer has an element type ",
          int{dtype});
  b.dtype = static_cast<DType>(dtype);
  b.is_input = in.number<std::uint8_t>() != 0;
  const auto rank = in.number<std::uint32_t>();
  require(rank <= 64, ErrorKind::invalid_argument, "the server's answer has a rank of ", rank);
  for (std::uint32_t d = 0; d < rank; ++d) b.shape.push_back(in.number<std::int64_t>());
  return b;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = other.release();
  }
  return *this;
}

Descriptor shared_file(std::size_t bytes) {
  Descriptor file(::memfd_create("tenfold-port", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const bool made = file.get() >= 0 && ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0 &&
                    ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  require_system(made, ErrorKind::out_of_memory, "no shared memory for a port's rings of ", bytes, " bytes");
  return file;
}

std::shared_ptr<void> map_shared(int file, std::size_t bytes) {
  struct stat info {};
  const bool fits = ::fstat(file, &info) == 0 && static_cast<std::uint64_t>(info.st_size) >= bytes;
  require(fits && (::fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK) != 0, ErrorKind::invalid_argument,
          "the server's file is no memory for rings of ", bytes, " bytes");
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  require_system(memory != MAP_FAILED, ErrorKind::out_of_memory, "a port's rings cannot be mapped");
  return {memory, [bytes](void* p) { ::munmap(p, bytes); }};
}

std::string written(const Offer& offer) {
  Writer out;
  out.number(kMagic);
  out.text(version());
  out.text(offer.refusal);
  out.number(static_cast<std::int32_t>(offer.port.slots));
  out.number(static_cast<std::uint8_t>(offer.port.when_full));
  out.number(static_cast<std::uint32_t>(offer.layout.bindings.size()));
  for (const BindingInfo& b : offer.layout.bindings) {
    out.text(b.name);
    out.number(static_cast<std::uint8_t>(b.dtype)), out.number(static_cast<std::uint8_t>(b.is_input));
    out.number(static_cast<std::uint32_t>(b.shape.size()));
    for (const std::int64_t extent : b.shape) out.number(extent);
  }
  require(out.bytes.size() <= kLongestOffer, ErrorKind::unsupported, "the names of inputs and outputs take more than ", kLongestOffer,
          " bytes");
  return std::move(out.bytes);
}

Offer read_offer(const std::string& bytes) {
  Reader in{bytes};
  require(in.number<std::uint64_t>() == kMagic, ErrorKind::invalid_argument, "what serves there is no server of ports");
  const std::string theirs = in.text();
  require(theirs == version(), ErrorKind::invalid_argument, "the server is of version ", theirs, ", and this process of ", version());
  Offer offer;
  offer.refusal = in.text();
  if (!offer.refusal.empty()) return offer;
  offer.port.slots = in.number<std::int32_t>();
  offer.port.when_full = static_cast<WhenFull>(in.number<std::uint8_t>());
  check_options(offer.port);
  std::vector<BindingInfo> bindings;
  for (auto count = in.number<std::uint32_t>(); count > 0; --count) bindings.push_back(read_binding(in));
  offer.layout = layout_of(std::move(bindings));
  sizes_of(offer.layout, offer.port);   // throws for what no memory holds
  return offer;
}

bool send_offer(int socket, const std::string& bytes, int file) noexcept {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = room, message.msg_controllen = sizeof room;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(head), &file, sizeof file);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::string receive_offer(int socket, Descriptor& file) {
  std::string bytes(kLongestOffer, '\0');
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1, message.msg_control = room, message.msg_controllen = sizeof room;
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  require(got != 0, ErrorKind::io, "the server gave no answer: it closed the connection");
  require_system(got > 0, ErrorKind::io, "the server gave no answer");
  bytes.resize(static_cast<std::size_t>(got));
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int))) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof number);
    file = Descriptor(number);
  }
  return bytes;
}

Descriptor socket_for(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  require(!path.empty() && path.size() < sizeof address.sun_path && path.find('\0') == std::string::npos, ErrorKind::invalid_argument,
          "'", path, "' is no path for a socket: 1 to ", sizeof address.sun_path - 1, " bytes are");
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  require_system(made.get() >= 0, ErrorKind::io, "no socket for '", path, "'");
  return made;
}

}  // namespace tenfold::low_latency
