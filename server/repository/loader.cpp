#include "repository/loader.h"

#include <algorithm>

namespace tenfold::server {

Loader::Loader(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Loader::add(const std::string& name, std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    tasks_.push_back({name, std::move(task)});
  }
  changed_.notify_all();
}

bool Loader::busy(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return running_.contains(name) || std::any_of(tasks_.begin(), tasks_.end(), [&](const Task& task) { return task.name == name; });
}

void Loader::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty() && running_.empty(); });
}

void Loader::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto free = std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& task) { return !running_.contains(task.name); });
    if (ended_) return;
    if (free == tasks_.end()) {
      changed_.wait(lock);
      continue;
    }
    Task task = std::move(*free);
    tasks_.erase(free);
    running_.insert(task.name);
    lock.unlock();
    task.run();
    task.run = nullptr;
    lock.lock();
    running_.erase(task.name);
    changed_.notify_all();
  }
}

}  // namespace tenfold::server
