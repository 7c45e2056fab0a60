#include "base/threads/spread.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <vector>

#include "base/threads/cpu_count.h"

namespace tenfold {
namespace {
constexpr std::int64_t kBytesOfAThread = 512 << 10;   // some hundred microseconds: less is not worth a thread
constexpr std::int64_t kMaxThreads = 8;              // more wait for memory
thread_local int allowed = 0;
}  // namespace

MaySpread::MaySpread() noexcept { ++allowed; }
MaySpread::~MaySpread() { --allowed; }

void spread(std::int64_t parts, std::int64_t bytes, const std::function<void(std::int64_t part)>& work) {
  std::int64_t threads = allowed > 0 ? std::min({parts, bytes / kBytesOfAThread, kMaxThreads}) : 1;
  if (threads > 1) threads = std::min<std::int64_t>(threads, default_threads());
  std::atomic<std::int64_t> next = 0;
  const auto take = [&] {
    for (std::int64_t part; (part = next++) < parts;) work(part);
  };
  std::vector<std::future<void>> others;
  sigset_t all, before;   // the host program's handlers run on its own threads
  sigfillset(&all);
  if (threads > 1) pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (std::int64_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, take));
  } catch (const std::system_error&) {}   // no more threads: those that there are do the rest
  if (threads > 1) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  take();
  for (auto& other : others) other.get();
}

void spread_stretches(std::int64_t count, std::int64_t step, std::int64_t bytes,
                      const std::function<void(std::int64_t begin, std::int64_t end)>& work) {
  if (allowed == 0) return work(0, count);
  constexpr std::int64_t kStretches = 4 * kMaxThreads;   // the last thread does not wait long for the slowest
  const std::int64_t steps = (count + step - 1) / step, each = std::max<std::int64_t>((steps + kStretches - 1) / kStretches, 1) * step;
  spread((count + each - 1) / each, bytes, [&](std::int64_t part) { work(part * each, std::min(count, (part + 1) * each)); });
}

}  // namespace tenfold
