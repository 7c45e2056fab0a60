// Pushing and popping by exchanging slots.
#include "low_latency/ring/ring.h"

#include <algorithm>

namespace tenfold::low_latency {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a lock could be held by a process that has ended");

void RingMemory::clear() noexcept {
  for (std::uint64_t i = 0; i < count_; ++i) cells_[i].word.store(word(i, false, i), std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

// The consumer may take some of them meanwhile.
void RingProducer::drop_all_before(std::uint64_t& dropped) noexcept {
  for (std::uint64_t i = head_ - std::min(head_, count_); i < head_; ++i) {
    std::uint64_t seen = cell(i).load(std::memory_order_acquire);
    if (message_of(seen) != i || !(seen & kFull)) continue;
    dropped += cell(i).compare_exchange_strong(seen, word(i + count_, false, seen & kSlot), std::memory_order_acq_rel);
  }
}

bool RingProducer::push(WhenFull when_full, std::uint64_t& dropped) noexcept {
  if (broken_) return false;
  std::atomic<std::uint64_t>& at = cell(head_);
  if (at.load(std::memory_order_acquire) & kFull) {
    if (when_full == WhenFull::reject) return false;
    if (when_full == WhenFull::keep_newest) drop_all_before(dropped);
  }
  const std::uint64_t old = at.exchange(word(head_, true, own_), std::memory_order_acq_rel);
  if (!is_slot(old & kSlot)) return broken_ = true, false;
  if (old & kFull) ++dropped;
  own_ = old & kSlot;
  ++head_;
  return true;
}

std::byte* RingConsumer::pop() noexcept {
  // What is dropped under our hands moves us on. The bound is for a producer that writes nonsense.
  for (std::uint64_t tries = 0; tries < 2 * count_ + 4 && !broken_; ++tries) {
    std::atomic<std::uint64_t>& at = cell(tail_);
    std::uint64_t seen = at.load(std::memory_order_acquire);
    const std::uint64_t message = message_of(seen);
    if (message < tail_ || !is_slot(seen & kSlot)) {
      broken_ = true;
    } else if (!(seen & kFull)) {
      if (message == tail_) return nullptr;
      ++tail_;   // it was dropped
    } else if (message > tail_) {
      tail_ = std::max(tail_ + 1, message - count_ + 1);   // the producer came round: all older ones are gone
    } else if (at.compare_exchange_strong(seen, word(tail_ + count_, false, own_), std::memory_order_acq_rel)) {
      own_ = seen & kSlot;
      ++tail_;
      return slot(own_);
    }
  }
  return nullptr;
}

}  // namespace tenfold::low_latency
