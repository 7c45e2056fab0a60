#include "queue/order.h"

#include <utility>

namespace tenfold::serving_queue {

std::uint64_t Order::enter() {
  const std::lock_guard lock(mutex_);
  places_.emplace_back();
  return first_ + places_.size() - 1;
}

void Order::end(std::uint64_t number, std::function<void()> tell) {
  std::unique_lock lock(mutex_);
  Place& place = places_[number - first_];
  place.ended = true, place.tell = std::move(tell);
  if (telling_) return;
  telling_ = true;
  while (!places_.empty() && places_.front().ended) {
    const std::function<void()> next = std::move(places_.front().tell);
    places_.pop_front(), ++first_;
    lock.unlock();                               // what is called may submit a request
    if (next) next();
    lock.lock();
  }
  telling_ = false;
}

}  // namespace tenfold::serving_queue
