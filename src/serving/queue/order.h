// QueueOptions::preserve_ordering: requests hear of their ends in the order in which they came.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace tenfold::serving_queue {

// Thread safe.
class Order {
 public:
  std::uint64_t enter();                         // a request's number; it must end once
  // Calls `tell` when all requests before it have ended: in this thread, or in that of one of them.
  void end(std::uint64_t number, std::function<void()> tell);

 private:
  struct Place {
    bool ended = false;
    std::function<void()> tell;
  };
  std::mutex mutex_;
  std::deque<Place> places_;                     // the first has the number first_
  std::uint64_t first_ = 0;
  bool telling_ = false;                         // a thread does; it takes what others add
};

}  // namespace tenfold::serving_queue
