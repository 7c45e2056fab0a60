// RowRing: one file in memory, each stream's part of it mapped at two places in a row.
#include "tenfold/row_ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/system_error.h"

namespace tenfold {
namespace {

struct File {
  explicit File(std::int64_t bytes) : descriptor(::memfd_create("tenfold-rows", MFD_CLOEXEC)) {
    require_system(descriptor >= 0 && ::ftruncate(descriptor, bytes) == 0, ErrorKind::out_of_memory, "no memory for ", bytes,
                   " bytes of rows");
  }
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const int descriptor;
};

constexpr std::int64_t kMax = std::int64_t{1} << 46;   // bytes, of which a process has room for two of each

std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

}  // namespace

RowRing::RowRing(std::int64_t rows, std::int64_t row_bytes, std::int64_t streams)
    : rows_(rows), row_bytes_(row_bytes), streams_(streams) {
  const auto positive = [](const char* what, std::int64_t value) {
    require(value > 0, ErrorKind::invalid_argument, what, " is ", value, ", expected 1 or more");
  };
  positive("rows", rows), positive("row_bytes", row_bytes), positive("streams", streams);
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  require(rows < kMax && row_bytes <= kMax / (rows + 1) && streams <= kMax / ((rows + 1) * row_bytes + page),
          ErrorKind::invalid_argument, rows, " rows of ", row_bytes, " bytes for ", streams, " streams take more than ", kMax, " bytes");
  // A row more than the window has, so that a push leaves the window before it alone.
  ring_bytes_ = round_up((rows + 1) * row_bytes, page);
  const std::int64_t all = ring_bytes_ * streams;
  const File file(all);
  void* const reserved = ::mmap(nullptr, size(2 * all), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require_system(reserved != MAP_FAILED, ErrorKind::out_of_memory, "no room for ", 2 * all, " bytes of rows");
  memory_ = static_cast<std::byte*>(reserved);
  for (std::int64_t s = 0; s < 2 * streams; ++s) {
    void* const part = ::mmap(memory_ + s * ring_bytes_, size(ring_bytes_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
                              file.descriptor, s / 2 * ring_bytes_);
    if (part != MAP_FAILED) continue;
    const int error = errno;
    close();
    fail(ErrorKind::out_of_memory, cat("stream ", s / 2, " of ", streams, " cannot be mapped: ", std::strerror(error),
                                       "; each stream takes two mappings, and `sysctl vm.max_map_count` is how many there may be"));
  }
  all_ = std::make_unique<Stream[]>(size(streams));
  for (std::int64_t s = 0; s < streams; ++s) all_[size(s)] = {memory_ + 2 * s * ring_bytes_, rows * row_bytes, 0};
}

RowRing::~RowRing() { close(); }

RowRing::RowRing(RowRing&& other) noexcept { *this = std::move(other); }

RowRing& RowRing::operator=(RowRing&& other) noexcept {
  if (this == &other) return *this;
  close();
  rows_ = other.rows_, row_bytes_ = other.row_bytes_, ring_bytes_ = other.ring_bytes_;
  streams_ = std::exchange(other.streams_, 0);
  memory_ = std::exchange(other.memory_, nullptr);
  all_ = std::move(other.all_);
  return *this;
}

void RowRing::close() noexcept {
  if (memory_) ::munmap(std::exchange(memory_, nullptr), size(2 * ring_bytes_ * streams_));
}

// `end` is where the window ends, above its length and at most twice the ring.
const void* RowRing::push(std::int64_t stream, const void* row) noexcept {
  if (stream < 0 || stream >= streams_ || !row) return nullptr;
  Stream& s = all_[size(stream)];
  if (s.end + row_bytes_ > 2 * ring_bytes_) s.end -= ring_bytes_;
  std::memcpy(s.memory + s.end, row, size(row_bytes_));
  s.end += row_bytes_;
  ++s.pushed;
  return s.memory + s.end - rows_ * row_bytes_;
}

const void* RowRing::window(std::int64_t stream) const noexcept {
  if (stream < 0 || stream >= streams_) return nullptr;
  const Stream& s = all_[size(stream)];
  return s.memory + s.end - rows_ * row_bytes_;
}

std::int64_t RowRing::filled(std::int64_t stream) const noexcept {
  return stream < 0 || stream >= streams_ ? 0 : std::min(all_[size(stream)].pushed, rows_);
}

void RowRing::clear(std::int64_t stream) noexcept {
  if (stream < 0 || stream >= streams_) return;
  Stream& s = all_[size(stream)];
  std::memset(s.memory, 0, size(ring_bytes_));
  s.end = rows_ * row_bytes_, s.pushed = 0;
}

}  // namespace tenfold
