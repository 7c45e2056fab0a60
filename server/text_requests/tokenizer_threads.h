// Threads that tokenize large requests, so that those of the network go on with others.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tenfold::server {

class TokenizerThreads {
 public:
  explicit TokenizerThreads(int threads);        // 0: as many as there are processors, 8 at most
  ~TokenizerThreads();                           // does what was added first
  TokenizerThreads(const TokenizerThreads&) = delete;
  TokenizerThreads& operator=(const TokenizerThreads&) = delete;
  int size() const { return static_cast<int>(threads_.size()); }
  void add(std::function<void()> work);          // which throws nothing

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tenfold::server
