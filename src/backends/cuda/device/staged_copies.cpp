// Staged copies: each thread claims the next piece of the whole, and has two pinned pieces of its own for it in turn.
#include "backends/cuda/device/staged_copies.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backends/cuda/device/failures.h"
#include "base/threads/cpu_count.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kSpinMicroseconds = 30;   // of an idle thread: copies are milliseconds apart

DevicePointer address(const void* p) { return reinterpret_cast<DevicePointer>(p); }

}  // namespace

struct StagedCopies::Job {
  std::byte* host;
  DevicePointer device;
  std::int64_t bytes, piece_bytes;
  StreamHandle stream;
  std::atomic<std::int64_t> next{0};     // offset of what nobody has claimed yet
  std::atomic<int> result{kSuccess};
  std::atomic<const char*> call{nullptr};

  // The next stretch; false: there is none, or something failed.
  bool claim(std::int64_t& offset, std::int64_t& size) noexcept {
    if (result.load(std::memory_order_relaxed) != kSuccess) return false;
    offset = next.fetch_add(piece_bytes, std::memory_order_relaxed);
    size = std::min(piece_bytes, bytes - offset);
    return size > 0;
  }
  // True: it went well. The first failure is kept.
  bool good(int answer, const char* what) noexcept {
    if (answer == kSuccess) return true;
    int none = kSuccess;
    if (result.compare_exchange_strong(none, answer)) call.store(what);
    return false;
  }
};

StagedCopies::StagedCopies(const StagingOptions& options, std::function<void()> make_current)
    : piece_bytes_(options.piece_bytes),
      make_current_(std::move(make_current)),
      threads_({.threads = std::clamp(options.threads, 1, default_threads()), .spin_microseconds = kSpinMicroseconds}) {
  pieces_.resize(static_cast<std::size_t>(threads_.workers() * kPiecesOfThread));
  try {
    for (Piece& piece : pieces_) {
      void* memory = nullptr;
      expect(driver()->allocate_host(&memory, static_cast<std::size_t>(piece_bytes_), 0), "cuMemHostAlloc", "allocating pinned pieces");
      piece.memory = static_cast<std::byte*>(memory);
      expect(driver()->event_create(&piece.done, kEventUntimed), "cuEventCreate", "making an event");
    }
  } catch (...) {
    release();
    throw;
  }
}
StagedCopies::~StagedCopies() { release(); }

void StagedCopies::release() noexcept {
  for (Piece& piece : pieces_) {
    if (piece.done) driver()->event_wait(piece.done), driver()->event_destroy(piece.done);
    if (piece.memory) driver()->release_host(piece.memory);
  }
  pieces_.clear();
}

// work(pieces): what one thread does, with its own pieces, until nothing is left.
template <class Work>
StagedCopies::Outcome StagedCopies::run(Job& job, Work work) noexcept {
  const std::lock_guard lock(mutex_);
  // Short copies in as many pieces as there are, so that no thread waits for another's last one.
  constexpr std::int64_t kMinPiece = 64 << 10;
  const std::int64_t share = job.bytes / static_cast<std::int64_t>(pieces_.size());
  job.piece_bytes = std::clamp(share, std::min(kMinPiece, piece_bytes_), piece_bytes_) / 64 * 64;
  threads_.for_each(threads_.workers(), [&](std::int64_t part, int) {
    make_current_();
    work(&pieces_[static_cast<std::size_t>(part) * kPiecesOfThread]);
  });
  const Outcome outcome{job.result.load(), job.call.load()};
  if (outcome.result != kSuccess) driver()->stream_wait(job.stream);   // a piece whose event is missing is not known to be free
  return outcome;
}

StagedCopies::Outcome StagedCopies::to_device(DevicePointer to, const void* from, std::int64_t bytes, StreamHandle stream) noexcept {
  Job job{static_cast<std::byte*>(const_cast<void*>(from)), to, bytes, 0, stream};
  return run(job, [&job](const Piece* pieces) {
    const Driver& d = *driver();
    std::int64_t offset = 0, size = 0;
    for (int turn = 0; job.claim(offset, size); turn ^= 1) {
      const Piece& piece = pieces[turn];
      if (!job.good(d.event_wait(piece.done), "cuEventSynchronize")) return;   // the copy that used it last
      std::memcpy(piece.memory, job.host + offset, static_cast<std::size_t>(size));
      const auto at = job.device + static_cast<DevicePointer>(offset);
      if (!job.good(d.copy(at, address(piece.memory), static_cast<std::size_t>(size), job.stream), "cuMemcpyAsync")) return;
      if (!job.good(d.event_record(piece.done, job.stream), "cuEventRecord")) return;
    }
  });
}

StagedCopies::Outcome StagedCopies::to_host(void* to, DevicePointer from, std::int64_t bytes, StreamHandle stream) noexcept {
  Job job{static_cast<std::byte*>(to), from, bytes, 0, stream};
  return run(job, [&job](const Piece* pieces) {
    const Driver& d = *driver();
    struct { std::int64_t offset = 0, size = 0; } crossing[kPiecesOfThread];
    const auto start = [&](int i) {   // a piece that another copy used is free: whoever asked for that one waited for it
      auto& [offset, size] = crossing[i];
      if (!job.claim(offset, size)) return size = 0, false;
      const auto at = job.device + static_cast<DevicePointer>(offset);
      return job.good(d.event_wait(pieces[i].done), "cuEventSynchronize") &&
             job.good(d.copy(address(pieces[i].memory), at, static_cast<std::size_t>(size), job.stream), "cuMemcpyAsync") &&
             job.good(d.event_record(pieces[i].done, job.stream), "cuEventRecord");
    };
    bool more = start(0);
    for (int turn = 0; more; turn ^= 1) {
      more = start(turn ^ 1);   // the other piece crosses while the host copies out of this one
      if (!job.good(d.event_wait(pieces[turn].done), "cuEventSynchronize")) return;
      std::memcpy(job.host + crossing[turn].offset, pieces[turn].memory, static_cast<std::size_t>(crossing[turn].size));
    }
  });
}

}  // namespace tenfold::backends::cuda
