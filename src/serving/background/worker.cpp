// The thread, its queue, and what a fork leaves of them.
#include "background/worker.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <system_error>

#include "tenfold/internal/interrupts.h"

namespace tenfold::background {

Worker& Worker::of_process() {
  static Worker* const worker = new Worker;  // threads may outlive all statics
  return *worker;
}

Worker::Worker() {
  pthread_atfork([] { of_process().mutex_.lock(); }, [] { of_process().mutex_.unlock(); },
                 [] { of_process().after_fork(); });
}

// In the child, which has neither the thread nor those that wait. What it was doing is still to be done here.
void Worker::after_fork() {
  if (current_) items_.push_front(std::move(current_));
  current_ = nullptr, running_ = false, stop_ = false;
  new (&thread_) std::thread;
  new (&changed_) std::condition_variable;
  mutex_.unlock();
}

void Worker::add(const void* owner, Work work) {
  if (ended_) return;
  items_.push_back(std::make_shared<const Item>(Item{owner, std::move(work)}));
  wake();
}

void Worker::wake() {
  if (running_ || ended_ || items_.empty()) return;
  static const bool at_exit = std::atexit([] { of_process().end(); }) == 0;
  static_cast<void>(at_exit);
  if (thread_.joinable()) thread_.join();  // it has left run(), or is about to, and needs the lock no more
  try {
    thread_ = std::thread([this] { run(); });
    running_ = true;
  } catch (const std::system_error&) {
  }  // the process may start no more threads now; who uses what waits for the work tries again
}

bool Worker::has_work_of(const void* owner) const noexcept {
  if (current_ && current_->owner == owner) return true;
  for (const auto& item : items_)
    if (item->owner == owner) return true;
  return false;
}

// What work holds is let go without the lock: engines among it.
void Worker::run() {
  std::unique_lock lock(mutex_);
  while (!items_.empty()) {
    std::shared_ptr<const Item> item = items_.front();
    items_.pop_front();
    current_ = item, stop_ = false;
    lock.unlock();
    {
      const Interrupts interrupts([this] {
        std::lock_guard look(mutex_);
        return !stop_;
      });
      item->work();
    }
    lock.lock();
    current_ = nullptr;
    notify();
    lock.unlock();
    item = nullptr;
    lock.lock();
  }
  running_ = false;
  notify();
}

void Worker::interrupt(std::unique_lock<std::mutex>& lock, const void* owner) {
  while (current_ && (owner == nullptr || current_->owner == owner)) {
    stop_ = true;
    wait(lock);
  }
}

void Worker::drop(const void* owner) {
  std::deque<std::shared_ptr<const Item>> dropped;
  std::unique_lock lock(mutex_);
  const auto from =
      std::stable_partition(items_.begin(), items_.end(), [&](const auto& item) { return item->owner != owner; });
  std::move(from, items_.end(), std::back_inserter(dropped));
  items_.erase(from, items_.end());
  if (running_ && thread_.get_id() == std::this_thread::get_id())
    stop_ = stop_ || (current_ && current_->owner == owner);  // the work lets its owner go: it cannot wait for itself
  else
    interrupt(lock, owner);
  lock.unlock();
}

void Worker::end() {
  std::thread last;
  std::deque<std::shared_ptr<const Item>> dropped;
  {
    std::unique_lock lock(mutex_);
    ended_ = true;
    dropped.swap(items_);
    if (running_ && thread_.get_id() == std::this_thread::get_id())
      return;  // work ends the process: nobody is left to wait for it
    interrupt(lock, nullptr);
    last.swap(thread_);
  }
  if (last.joinable()) last.join();
}

}  // namespace tenfold::background
