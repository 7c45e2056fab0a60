// Threads that load models, one task of a model at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tenfold::server {

class Loader {
 public:
  explicit Loader(int threads);
  ~Loader();                                     // tasks that have not begun are dropped
  // Tasks of equal names run in the order in which they were given.
  void add(const std::string& name, std::function<void()> task);
  bool busy(const std::string& name) const;      // whether a task of it waits or runs
  void wait();                                   // until there are none

 private:
  struct Task {
    std::string name;
    std::function<void()> run;
  };
  void work();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::set<std::string> running_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tenfold::server
