#include "text/threads.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "device_pool/device_place.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::tokenizing {
namespace {

constexpr std::size_t kBytesOfAThread = 1 << 14;   // take about half a millisecond, of which a thread's start is a tenth
constexpr std::size_t kBytesOfAPiece = 1 << 13;    // of texts that a thread takes at once

// What the threads share. Pieces are taken in their order, and a thread that fails ends all of them behind its text.
class Work {
 public:
  Work(std::span<const std::string_view> texts, const std::function<void(std::size_t)>& work) : texts_(texts), work_(work) {}

  void run() {
    for (;;) {
      const auto [begin, end] = take();
      if (begin == end) return;
      for (std::size_t i = begin; i < end; ++i) {
        try {
          throw_if_cancelled();   // of the caller's thread; others get no more texts
          work_(i);
        } catch (...) {
          return note(i);
        }
      }
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Range { std::size_t begin, end; };
  Range take() {
    const std::lock_guard lock(mutex_);
    const std::size_t begin = next_;
    for (std::size_t bytes = 0; next_ < texts_.size() && !failure_ && bytes < kBytesOfAPiece; ++next_) bytes += texts_[next_].size() + 16;
    return {begin, next_};
  }
  void note(std::size_t at) {
    const std::lock_guard lock(mutex_);
    if (!failure_ || at < failed_) failure_ = std::current_exception(), failed_ = at;
  }

  std::span<const std::string_view> texts_;
  const std::function<void(std::size_t)>& work_;
  std::mutex mutex_;
  std::size_t next_ = 0, failed_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

std::size_t threads_for(std::size_t bytes, int threads) {
  const std::size_t worth = bytes / kBytesOfAThread;
  if (worth <= 1) return 1;   // little text does not ask how many processors there are
  return std::min(worth, threads > 0 ? static_cast<std::size_t>(threads) : serving::usable_processors());
}

void on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> failures(count);
  const auto part = [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  std::size_t mine = 1;  // parts from here on, and part 0, are this thread's
  try {
    for (; mine < count; ++mine) others.emplace_back(part, mine);
  } catch (const std::system_error&) {  // the system gives no more
  }
  if (count > 0) part(0);
  for (; mine < count; ++mine) part(mine);
  for (std::thread& one : others) one.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void for_each_text(std::span<const std::string_view> texts, int threads, const std::function<void(std::size_t)>& work) {
  std::size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  Work all(texts, work);
  on_threads(threads_for(bytes, threads), [&all](std::size_t) { all.run(); });
  all.rethrow();
}

}  // namespace tenfold::tokenizing
