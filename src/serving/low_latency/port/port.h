// Ports: two rings between a thread that asks and one that answers, in one piece of memory, which processes may share.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "low_latency/ring/messages.h"
#include "low_latency/ring/ring.h"

namespace tenfold::low_latency {

// In front of the rings. A process that scribbles here harms itself alone.
struct alignas(kLine) PortHead {
  std::atomic<std::uint32_t> served{0};
  std::atomic<std::uint64_t> answers_dropped{0};
};
// In front of each message.
struct alignas(kLine) RequestHead {
  std::uint64_t id = 0;
  std::int64_t due_ns = 0;
  std::int32_t missing_rows = 0;
};
struct alignas(kLine) AnswerHead { Answer answer; };

struct PortSizes {
  int slots = 0;
  std::int64_t input_bytes = 0, output_bytes = 0;
  std::size_t request_bytes() const { return sizeof(RequestHead) + static_cast<std::size_t>(input_bytes); }
  std::size_t answer_bytes() const { return sizeof(AnswerHead) + static_cast<std::size_t>(output_bytes); }
  std::size_t requests() const { return RingMemory::bytes(slots, request_bytes()); }
  std::size_t bytes() const { return sizeof(PortHead) + requests() + RingMemory::bytes(slots, answer_bytes()); }
};

// The memory of one port, as either side sees it.
class PortMemory {
 public:
  PortMemory(const PortSizes& sizes, std::shared_ptr<void> memory) : sizes_(sizes), memory_(std::move(memory)) {}
  void clear();  // by who makes it
  const PortSizes& sizes() const { return sizes_; }
  PortHead& head() const { return *static_cast<PortHead*>(memory_.get()); }
  RingMemory requests() const { return {rings(), sizes_.slots, sizes_.request_bytes()}; }
  RingMemory answers() const { return {rings() + sizes_.requests(), sizes_.slots, sizes_.answer_bytes()}; }

 private:
  std::byte* rings() const { return static_cast<std::byte*>(memory_.get()) + sizeof(PortHead); }
  PortSizes sizes_;
  std::shared_ptr<void> memory_;
};

// What a RunnerThread sleeps on.
struct ParkingEvent {
  std::atomic<std::uint32_t> asleep{0};
  void wake() noexcept;                                        // only if it sleeps
  void sleep(std::chrono::nanoseconds longest) noexcept;       // after `asleep` was set to 1
};

// The rings that a RunnerThread serves at a slot.
struct ServedRings {
  explicit ServedRings(const PortMemory& where) : memory(where), take(memory.requests()), give(memory.answers()) {}
  PortMemory memory;
  RingConsumer take;
  RingProducer give;
};

// A place in a RunnerThread's walk. Rings may take the place of those that are there: whoever owns the slot puts them into
// `next`, and the thread leaves the old ones in `left`.
struct PortSlot {
  ~PortSlot();
  // With the LatencyRunner's mutex. Rings that the thread left since the last call are freed here.
  void put(std::unique_ptr<ServedRings> rings);
  std::atomic<ServedRings*> next{nullptr}, left{nullptr};
  ServedRings* serving = nullptr;  // the thread's
  std::atomic<bool> served{false};
  PortHead* head = nullptr;                // of the rings that were put last; with the LatencyRunner's mutex
  const bool remote;                       // another process asks, which wakes nobody
  std::atomic<ParkingEvent*> parking{nullptr};          // of the thread that serves it
  std::vector<std::shared_ptr<ParkingEvent>> parkings;  // all there were: who asks may still look
  explicit PortSlot(bool another_process) : remote(another_process) {}
};

void check_options(const PortOptions& options);  // throws invalid_argument
// The layout may come from another process. Throws invalid_argument for rings that no memory holds: all other arithmetic on
// the sizes cannot overflow.
PortSizes sizes_of(const MessageLayout& layout, const PortOptions& options);

}  // namespace tenfold::low_latency

namespace tenfold {

// The asking side.
struct RunnerPort::State {
  State(low_latency::MessageLayout messages, const low_latency::PortMemory& where, WhenFull policy,
        std::shared_ptr<low_latency::PortSlot> place, int connection);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool submit(const low_latency::RequestHead& head, const void* input) noexcept;

  const low_latency::MessageLayout layout;
  const low_latency::PortMemory memory;
  const WhenFull when_full;
  const std::shared_ptr<low_latency::PortSlot> port_slot;  // null: another process serves it
  const int socket;                                   // to that process; -1: none
  low_latency::RingProducer request_ring;
  low_latency::RingConsumer fetch;
  std::atomic<std::uint64_t> submitted{0}, rejected{0}, dropped{0}, polled{0};
};

}  // namespace tenfold
