// Ring: a queue of fixed size between one producer and one consumer, where either never waits for the other.
//
// Messages lie in slots. A cell of the ring names a slot, and says whether there is a message in it. Two slots more than
// cells belong to nobody's cell: the producer fills one, the consumer reads the other. To push is to exchange the filled
// slot for the one that the cell names; if a message was in that, it was the oldest, and is dropped. To pop is to
// exchange the slot that was read for the message's. So neither touches a slot while the other does, and nothing is
// copied in the ring.
//
// A ring may lie in memory that another process writes to: numbers that come from there are checked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tenfold/low_latency.h"

namespace tenfold::low_latency {

inline constexpr int kMaxSlots = 32000;
inline constexpr std::size_t kLine = 64;   // bytes of a cache line

inline std::size_t whole_lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

// Where a ring's cells and slots lie. Either side has its own.
class RingMemory {
 public:
  RingMemory(void* memory, int cells, std::size_t message_bytes)
      : cells_(static_cast<Cell*>(memory)),
        slots_(static_cast<std::byte*>(memory) + static_cast<std::size_t>(cells) * sizeof(Cell)),
        count_(static_cast<std::uint64_t>(cells)),
        stride_(whole_lines(message_bytes)) {}
  static std::size_t bytes(int cells, std::size_t message_bytes) {
    return static_cast<std::size_t>(cells) * sizeof(Cell) + static_cast<std::size_t>(cells + 2) * whole_lines(message_bytes);
  }
  void clear() noexcept;   // before either side begins

 protected:
  // Number of the message in front, a bit for "full", number of the slot behind. An empty cell has the number of the
  // message that it waits for.
  static constexpr int kSlotBits = 15;
  static constexpr std::uint64_t kFull = std::uint64_t{1} << kSlotBits, kSlot = kFull - 1;
  static std::uint64_t word(std::uint64_t message, bool full, std::uint64_t slot) {
    return message << (kSlotBits + 1) | (full ? kFull : 0) | slot;
  }
  static std::uint64_t message_of(std::uint64_t word) { return word >> (kSlotBits + 1); }

  struct alignas(kLine) Cell { std::atomic<std::uint64_t> word; };
  std::atomic<std::uint64_t>& cell(std::uint64_t message) noexcept { return cells_[message % count_].word; }
  std::byte* slot(std::uint64_t number) noexcept { return slots_ + number * stride_; }
  // Ours for the taking? Else the other side wrote nonsense.
  bool is_slot(std::uint64_t number) const noexcept { return number < count_ + 2; }

  Cell* cells_;
  std::byte* slots_;
  std::uint64_t count_, stride_;
};

class RingProducer : public RingMemory {
 public:
  explicit RingProducer(const RingMemory& memory) : RingMemory(memory), own_(count_) {}
  std::byte* message() noexcept { return slot(own_); }   // to be filled, then pushed
  // False: the ring is full and rejects. `dropped` grows by what had to go.
  bool push(WhenFull when_full, std::uint64_t& dropped) noexcept;
  bool broken() const noexcept { return broken_; }

 private:
  void drop_all_before(std::uint64_t& dropped) noexcept;
  std::uint64_t head_ = 0, own_;
  bool broken_ = false;
};

class RingConsumer : public RingMemory {
 public:
  explicit RingConsumer(const RingMemory& memory) : RingMemory(memory), own_(count_ + 1) {}
  std::byte* pop() noexcept;   // null: there is none; valid until the next call
  bool broken() const noexcept { return broken_; }

 private:
  std::uint64_t tail_ = 0, own_;
  bool broken_ = false;
};

}  // namespace tenfold::low_latency
