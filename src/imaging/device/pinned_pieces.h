// Pieces of host memory that a GPU copies from and to, used in turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/threads/parallel.h"
#include "tenfold/internal/device_work.h"

namespace tenfold::imaging {

inline constexpr std::int64_t kPieceBytes = 4 << 20;

// memcpy by several threads, where that is quicker.
inline void copy_in_parts(Parallel& pool, std::byte* to, const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t kPart = 512 << 10;
  const auto part = [&](std::int64_t i, int) {
    std::memcpy(to + i * kPart, from + i * kPart, static_cast<std::size_t>(std::min(kPart, bytes - i * kPart)));
  };
  pool.for_each((bytes + kPart - 1) / kPart, part);
}

class PinnedPieces {
 public:
  PinnedPieces(DeviceWork& work, std::int64_t bytes, int count) : work_(work), bytes_(bytes) {
    for (int i = 0; i < count; ++i) pieces_.push_back({work.allocate_pinned(bytes), work.make_event()});
  }
  std::int64_t bytes() const { return bytes_; }
  // The next piece, once the work before the last used() of it is done.
  std::byte* next() {
    at_ = (at_ + 1) % pieces_.size();
    work_.wait(pieces_[at_].done.get());
    return static_cast<std::byte*>(pieces_[at_].memory.get());
  }
  // The piece that next() gave is free once what is on the stream now is done.
  void used(void* stream) { work_.record(pieces_[at_].done.get(), stream); }

 private:
  struct Piece { std::shared_ptr<void> memory, done; };
  DeviceWork& work_;
  std::int64_t bytes_;
  std::vector<Piece> pieces_;
  std::size_t at_ = 0;
};

}  // namespace tenfold::imaging
