// RunnerPort: asking, fetching, and waking a thread that sleeps.
#include "low_latency/port.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#include "base/check.h"

namespace tenfold {

namespace low_latency {

void Bed::wake() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);   // behind the request, as sleep() looks for requests behind `asleep`
  if (asleep.load(std::memory_order_relaxed) == 0) return;
  asleep.store(0, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
}

void Bed::sleep(std::chrono::nanoseconds longest) noexcept {
  const timespec limit{longest.count() / 1000000000, longest.count() % 1000000000};
  ::syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, &limit, nullptr, 0);
}

namespace {

// Pages are touched here, so that none is asked for later.
std::shared_ptr<void> touched_memory(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  require(memory != MAP_FAILED, ErrorKind::out_of_memory, "no memory for a port's rings of ", bytes, " bytes");
  return {memory, [bytes](void* p) { ::munmap(p, bytes); }};
}

}  // namespace

std::shared_ptr<RunnerPort::State> make_port(const Layout& layout, const PortOptions& options) {
  require(options.slots >= 1 && options.slots <= kMostSlots, ErrorKind::invalid_argument, "a port has ", options.slots,
          " slots, expected 1 to ", kMostSlots);
  require(options.when_full <= WhenFull::keep_newest, ErrorKind::invalid_argument, "there is no WhenFull of number ",
          static_cast<int>(options.when_full));
  const PortSizes sizes{options.slots, layout.input_bytes, layout.output_bytes};
  return std::make_shared<RunnerPort::State>(sizes, options.when_full, touched_memory(sizes.bytes()));
}

}  // namespace low_latency

namespace {
low_latency::RingMemory cleared(low_latency::RingMemory ring) {
  ring.clear();
  return ring;
}
void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) noexcept {
  if (by != 0) counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);   // one thread writes
}
}  // namespace

RunnerPort::State::State(const low_latency::PortSizes& given, WhenFull policy, std::shared_ptr<void> where)
    : sizes(given),
      when_full(policy),
      memory(std::move(where)),
      ask(cleared(sizes.request_ring(memory.get()))),
      fetch(cleared(sizes.answer_ring(memory.get()))),
      take(sizes.request_ring(memory.get())),
      give(sizes.answer_ring(memory.get())) {}

bool RunnerPort::submit(std::uint64_t id, const void* input, std::int64_t due_ns) noexcept {
  State& s = *state_;
  count(s.submitted);
  std::byte* const message = s.ask.message();
  const low_latency::RequestHead head{id, due_ns != 0 ? due_ns : low_latency::now_ns()};
  std::memcpy(message, &head, sizeof head);
  std::memcpy(message + sizeof head, input, static_cast<std::size_t>(s.sizes.input_bytes));
  std::uint64_t dropped = 0;
  const bool taken = s.served.load(std::memory_order_acquire) && s.ask.push(s.when_full, dropped);
  count(s.dropped, dropped);
  if (!taken) count(s.rejected);
  else s.bed->wake();
  return taken;
}

bool RunnerPort::poll(Answer& answer, void* output) noexcept {
  State& s = *state_;
  const std::byte* const message = s.fetch.pop();
  if (!message) return false;
  std::memcpy(&answer, message, sizeof answer);
  if (output) std::memcpy(output, message + sizeof(low_latency::AnswerHead), static_cast<std::size_t>(s.sizes.output_bytes));
  count(s.polled);
  return true;
}

std::int64_t RunnerPort::input_bytes() const noexcept { return state_->sizes.input_bytes; }
std::int64_t RunnerPort::output_bytes() const noexcept { return state_->sizes.output_bytes; }
RunnerPort::Counts RunnerPort::counts() const noexcept {
  return {state_->submitted.load(), state_->rejected.load(), state_->dropped.load(), state_->polled.load(), state_->answers_dropped.load()};
}

}  // namespace tenfold
