#include "text_requests/tokenizer_threads.h"

#include <algorithm>

namespace tenfold::server {

TokenizerThreads::TokenizerThreads(int threads) {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  for (int i = 0; i < (threads > 0 ? threads : std::clamp(processors, 1, 8)); ++i) threads_.emplace_back([this] { run(); });
}

TokenizerThreads::~TokenizerThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void TokenizerThreads::add(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  changed_.notify_one();
}

void TokenizerThreads::run() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace tenfold::server
