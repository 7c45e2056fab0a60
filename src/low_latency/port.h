// Ports: two rings between a thread that asks and one that answers, in one piece of memory.
#pragma once

#include <atomic>
#include <memory>

#include "low_latency/messages.h"
#include "low_latency/ring.h"

namespace tenfold::low_latency {

// In front of each message.
struct alignas(kLine) RequestHead {
  std::uint64_t id = 0;
  std::int64_t due_ns = 0;
};
struct alignas(kLine) AnswerHead { Answer answer; };

// What a RunnerThread sleeps on.
struct Bed {
  std::atomic<std::uint32_t> asleep{0};
  void wake() noexcept;                                        // only if it sleeps
  void sleep(std::chrono::nanoseconds longest) noexcept;       // after `asleep` was set to 1
};

struct PortSizes {
  int slots = 0;
  std::int64_t input_bytes = 0, output_bytes = 0;
  std::size_t request_bytes() const { return sizeof(RequestHead) + static_cast<std::size_t>(input_bytes); }
  std::size_t answer_bytes() const { return sizeof(AnswerHead) + static_cast<std::size_t>(output_bytes); }
  std::size_t requests() const { return RingMemory::bytes(slots, request_bytes()); }
  std::size_t bytes() const { return requests() + RingMemory::bytes(slots, answer_bytes()); }
  RingMemory request_ring(void* memory) const { return {memory, slots, request_bytes()}; }
  RingMemory answer_ring(void* memory) const { return {static_cast<std::byte*>(memory) + requests(), slots, answer_bytes()}; }
};

// Throws invalid_argument.
std::shared_ptr<RunnerPort::State> make_port(const Layout& layout, const PortOptions& options);

}  // namespace tenfold::low_latency

namespace tenfold {

struct RunnerPort::State {
  State(const low_latency::PortSizes& given, WhenFull policy, std::shared_ptr<void> where);

  const low_latency::PortSizes sizes;
  const WhenFull when_full;
  const std::shared_ptr<void> memory;
  std::atomic<bool> served{true};
  std::shared_ptr<low_latency::Bed> bed = std::make_shared<low_latency::Bed>();   // the thread's, from its start on

  // The asking thread's.
  low_latency::RingProducer ask;
  low_latency::RingConsumer fetch;
  std::atomic<std::uint64_t> submitted{0}, rejected{0}, dropped{0}, polled{0};
  // The answering thread's.
  low_latency::RingConsumer take;
  low_latency::RingProducer give;
  std::atomic<std::uint64_t> answers_dropped{0};
};

}  // namespace tenfold
