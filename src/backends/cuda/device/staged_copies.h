// Large copies between pageable memory and a GPU, by way of pinned pieces: several threads fill pieces while others cross the bus.
//
// The driver does the same with one thread, at a seventh of the bus's speed (H200: 6 to 9 GB/s of 55).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "backends/cuda/device/driver.h"
#include "base/threads/thread_pool.h"

namespace tenfold::backends::cuda {

inline constexpr std::int64_t kMinStaged = 1 << 20;   // bytes of a copy: below, the driver's own is as quick

struct StagingOptions {
  // At most; no more than this process may use. Four bring an H200 half of what its bus carries, six two thirds.
  int threads = 6;
  std::int64_t piece_bytes = 1 << 20;    // smaller ones wait for the driver, whose calls take 10 us for each, one after the other
};

// One for a GPU: its copies take turns, so that one context's kernels run beside another's copy, and not each copy at half the speed.
// Thread safe.
class StagedCopies {
 public:
  // With the GPU current; `make_current` makes it so in other threads. Throws device, out_of_memory.
  StagedCopies(const StagingOptions& options, std::function<void()> make_current);
  ~StagedCopies();   // with the GPU current
  StagedCopies(const StagedCopies&) = delete;
  StagedCopies& operator=(const StagedCopies&) = delete;

  struct Outcome {
    int result = kSuccess;               // the driver's
    const char* call = nullptr;          // of what gave another than success
  };
  // Return when the host's memory has been read, or written. Work that is put on the stream later comes behind the copy. Of one that
  // failed nothing is under way.
  Outcome to_device(DevicePointer to, const void* from, std::int64_t bytes, StreamHandle stream) noexcept;
  Outcome to_host(void* to, DevicePointer from, std::int64_t bytes, StreamHandle stream) noexcept;

 private:
  struct Piece {
    std::byte* memory = nullptr;
    Event done = nullptr;                // behind the last copy from or to it
  };
  struct Job;
  static constexpr int kPiecesOfThread = 2;
  template <class Work>
  Outcome run(Job& job, Work work) noexcept;
  void release() noexcept;

  const std::int64_t piece_bytes_;
  const std::function<void()> make_current_;
  std::mutex mutex_;
  ThreadPool threads_;
  std::vector<Piece> pieces_;            // two of each thread
};

}  // namespace tenfold::backends::cuda
