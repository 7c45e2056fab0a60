// Copies between the host and a GPU, in GB/s: by the driver from pageable and from pinned memory, through pinned pieces by so many threads
// and of such a size, and what registering costs. What docs/guides/memory.md quotes, and what StagingOptions' defaults were chosen by.
//
//   host_copies_bench [MB ...]     sizes (1 2 4 19 77); each copy takes the next of several arrays, so that no cache holds what it reads
#include <chrono>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "backends/cuda/backend.h"
#include "backends/cuda/device/device.h"
#include "backends/cuda/device/staged_copies.h"
#include "backends/backend.h"
#include "tenfold/error.h"

namespace {

using namespace tenfold::backends;
using namespace tenfold::backends::cuda;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMega = 1'000'000, kAllArrays = 400 * kMega;

struct Bench {
  std::shared_ptr<Backend> backend = open_cuda(0);
  Device& device = device_of(backend->info());
  StreamHandle stream = nullptr;
  std::int64_t bytes = 0;
  std::vector<std::vector<char>> arrays;
  std::vector<std::shared_ptr<void>> pinned;
  std::shared_ptr<void> there;

  Bench() { device.make_current(), driver()->stream_create(&stream, kStreamNonBlocking); }

  void size(std::int64_t n) {
    bytes = n;
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(kAllArrays / n, 2, 64));
    arrays.assign(count, std::vector<char>(static_cast<std::size_t>(n), 'a'));
    pinned.clear();
    for (int i = 0; i < 2; ++i) pinned.push_back(backend->memory().allocate_host(n));
    there = backend->memory().allocate(n);
  }
  DevicePointer at() const { return reinterpret_cast<DevicePointer>(there.get()); }

  // GB/s of copies that end one after the other: the median.
  template <class Copy>
  double rate(Copy copy) {
    std::vector<double> seconds;
    const int rounds = static_cast<int>(std::clamp<std::int64_t>(300 * kMega / bytes, 8, 60));
    for (int i = 0; i < rounds + 2; ++i) {
      const auto start = Clock::now();
      copy(static_cast<std::size_t>(i));
      driver()->stream_wait(stream);
      if (i >= 2) seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
    return static_cast<double>(bytes) / seconds[static_cast<std::size_t>(rounds / 2)] / 1e9;
  }
  double plain(bool in, bool from_pinned) {
    return rate([&](std::size_t i) {
      void* const host = from_pinned ? pinned[i % pinned.size()].get() : arrays[i % arrays.size()].data();
      const auto address = reinterpret_cast<DevicePointer>(host);
      driver()->copy(in ? at() : address, in ? address : at(), static_cast<std::size_t>(bytes), stream);
    });
  }
  double staged(StagedCopies& copies, bool in) {
    return rate([&](std::size_t i) {
      char* const host = arrays[i % arrays.size()].data();
      const auto outcome = in ? copies.to_device(at(), host, bytes, stream) : copies.to_host(host, at(), bytes, stream);
      if (outcome.result != 0) std::printf("%s failed: %d\n", outcome.call, outcome.result), std::exit(1);
    });
  }
  void registering() {
    for (const char* when : {"first", "again"}) {
      auto start = Clock::now();
      const int result = driver()->register_host(arrays[0].data(), static_cast<std::size_t>(bytes), kRegisterPortable);
      const double on = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      start = Clock::now();
      driver()->unregister_host(arrays[0].data());
      const double off = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      std::printf("%5.1f MB  registering (%s): %.2f ms, ending it %.2f ms%s\n", static_cast<double>(bytes) / 1e6, when, on, off,
                  result ? ", FAILED" : "");
    }
  }
};

}  // namespace

int main(int count, char** words) try {
  Bench bench;
  std::vector<std::int64_t> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(static_cast<std::int64_t>(std::atof(words[i]) * 1e6));
  if (sizes.empty()) sizes = {1 * kMega, 2 * kMega, 4 * kMega, 19 * kMega, 77 * kMega};
  for (const std::int64_t bytes : sizes) {
    bench.size(bytes);
    std::printf("%5.1f MB  to the GPU: pinned %.1f, pageable by the driver %.1f; back: %.1f, %.1f\n", static_cast<double>(bytes) / 1e6,
                bench.plain(true, true), bench.plain(true, false), bench.plain(false, true), bench.plain(false, false));
    for (const int threads : {1, 2, 4, 6, 8, 12})
      for (const std::int64_t piece : {256 << 10, 512 << 10, 1 << 20, 2 << 20}) {
        StagedCopies copies({threads, piece}, [&] { bench.device.make_current(); });
        std::printf("%5.1f MB  %2d threads, pieces of %4d KiB: %.1f; back %.1f\n", static_cast<double>(bytes) / 1e6, threads,
                    static_cast<int>(piece >> 10), bench.staged(copies, true), bench.staged(copies, false));
      }
    bench.registering();
  }
  driver()->stream_destroy(bench.stream);
} catch (const tenfold::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
