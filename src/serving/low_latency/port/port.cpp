// RunnerPort: asking, fetching, and waking a thread that sleeps.
#include "low_latency/port/port.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "low_latency/ring/ring_window.h"
#include "low_latency/runner/runner.h"

namespace tenfold {

namespace low_latency {

void ParkingEvent::wake() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);   // behind the request, as sleep() looks for requests behind `asleep`
  if (asleep.load(std::memory_order_relaxed) == 0) return;
  asleep.store(0, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
}

void ParkingEvent::sleep(std::chrono::nanoseconds longest) noexcept {
  const timespec limit{longest.count() / 1000000000, longest.count() % 1000000000};
  ::syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, &limit, nullptr, 0);
}

void PortMemory::clear() {
  new (&head()) PortHead;
  requests().clear(), answers().clear();
}

PortSlot::~PortSlot() { delete next.load(), delete left.load(), delete serving; }

void PortSlot::put(std::unique_ptr<ServedRings> rings) {
  head = &rings->memory.head();
  delete left.exchange(nullptr, std::memory_order_acq_rel);
  rings->memory.head().served.store(served.load(std::memory_order_acquire), std::memory_order_release);
  delete next.exchange(rings.release(), std::memory_order_acq_rel);  // what no thread has taken
}

void serve(PortSlot& port_slot, bool on) noexcept {
  port_slot.served.store(on, std::memory_order_release);
  if (port_slot.head) port_slot.head->served.store(on, std::memory_order_release);
}

void check_options(const PortOptions& options) {
  require(options.slots >= 1 && options.slots <= kMaxSlots, ErrorKind::invalid_argument, "a port has ", options.slots,
          " slots, expected 1 to ", kMaxSlots);
  require(options.when_full <= WhenFull::keep_newest, ErrorKind::invalid_argument, "there is no WhenFull of number ",
          static_cast<int>(options.when_full));
}

PortSizes sizes_of(const MessageLayout& layout, const PortOptions& options) {
  check_options(options);
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 46;   // a process addresses no more
  constexpr std::int64_t kMaxOfAMessage = kMaxBytes / (4 * (kMaxSlots + 2));
  const auto holds = [](std::int64_t bytes, std::int64_t slots) { return bytes >= 0 && bytes <= kMaxBytes / 4 / (slots + 2); };
  static_assert(kMaxOfAMessage > static_cast<std::int64_t>(sizeof(AnswerHead) + kLine));   // so that heads and whole lines fit, too
  require(holds(layout.input_bytes, options.slots) && holds(layout.output_bytes, options.slots), ErrorKind::invalid_argument,
          "a port of ", options.slots, " slots for inputs of ", layout.input_bytes, " and outputs of ", layout.output_bytes,
          " bytes is larger than memory");
  return {options.slots, layout.input_bytes, layout.output_bytes};
}

}  // namespace low_latency

namespace {
void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) noexcept {
  if (by != 0) counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);   // one thread writes
}

// Pages are touched here, so that none is asked for later.
std::shared_ptr<void> touched_memory(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  require(memory != MAP_FAILED, ErrorKind::out_of_memory, "no memory for a port's rings of ", bytes, " bytes");
  return {memory, [bytes](void* p) { ::munmap(p, bytes); }};
}
}  // namespace

RunnerPort::State::State(low_latency::MessageLayout messages, const low_latency::PortMemory& where, WhenFull policy,
                         std::shared_ptr<low_latency::PortSlot> place, int connection)
    : layout(std::move(messages)),
      memory(where),
      when_full(policy),
      port_slot(std::move(place)),
      socket(connection),
      request_ring(memory.requests()),
      fetch(memory.answers()) {}

RunnerPort::State::~State() {
  if (socket >= 0) ::close(socket);
}

RunnerPort LatencyRunner::open_port(const PortOptions& options) {
  low_latency::check_options(options);
  const std::lock_guard lock(state_->mutex);
  require(
      !state_->pulse, ErrorKind::invalid_argument,
      "the LatencyRunner's RunnerThread has begun, which serves the ports that were there then: open ports first, then make the thread");
  const low_latency::PortSizes sizes = low_latency::sizes_of(state_->layout, options);
  low_latency::PortMemory memory(sizes, touched_memory(sizes.bytes()));
  memory.clear();
  auto port_slot = std::make_shared<low_latency::PortSlot>(false);
  port_slot->served = true;  // what is asked before the thread begins waits for it
  port_slot->put(std::make_unique<low_latency::ServedRings>(memory));
  state_->port_slots.push_back(port_slot);
  return RunnerPort(std::make_shared<RunnerPort::State>(state_->layout, memory, options.when_full, std::move(port_slot), -1));
}

bool RunnerPort::submit(std::uint64_t id, const void* input, std::int64_t due_ns) noexcept {
  return state_ && state_->submit({id, due_ns}, input);
}
bool RunnerPort::submit(std::uint64_t id, const RowRing& rows, std::int64_t stream, std::int64_t due_ns) noexcept {
  if (!state_) return false;
  const low_latency::RingWindow window = low_latency::window_of(rows, stream, state_->layout.input_bytes);
  return state_->submit({id, due_ns, window.missing}, window.memory);
}

bool RunnerPort::State::submit(const low_latency::RequestHead& given, const void* input) noexcept {
  State& s = *this;
  count(s.submitted);
  if (!input && s.layout.input_bytes > 0) {
    count(s.rejected);
    return false;
  }
  std::byte* const message = s.request_ring.message();
  low_latency::RequestHead head = given;
  if (head.due_ns == 0) head.due_ns = low_latency::now_ns();
  std::memcpy(message, &head, sizeof head);
  std::memcpy(message + sizeof head, input, static_cast<std::size_t>(s.layout.input_bytes));
  std::uint64_t dropped = 0;
  const bool taken = s.memory.head().served.load(std::memory_order_acquire) != 0 && s.request_ring.push(s.when_full, dropped);
  count(s.dropped, dropped);
  if (!taken) count(s.rejected);
  else if (low_latency::ParkingEvent* const parking = s.port_slot ? s.port_slot->parking.load(std::memory_order_acquire) : nullptr)
    parking->wake();
  return taken;
}

bool RunnerPort::poll(Answer& answer, void* output) noexcept {
  if (!state_) return false;
  State& s = *state_;
  const std::byte* const message = s.fetch.pop();
  if (!message) return false;
  std::memcpy(&answer, message, sizeof answer);
  if (output) std::memcpy(output, message + sizeof(low_latency::AnswerHead), static_cast<std::size_t>(s.layout.output_bytes));
  count(s.polled);
  return true;
}

bool RunnerPort::served() const noexcept {
  if (!state_ || state_->memory.head().served.load(std::memory_order_acquire) == 0) return false;
  if (state_->request_ring.broken() || state_->fetch.broken()) return false;
  if (state_->socket < 0) return true;
  char byte = 0;  // the other process sends nothing: it is there, or its end is
  return ::recv(state_->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

namespace {
const low_latency::MessageLayout kNothing;   // of a port that was moved from
}  // namespace

const std::vector<BindingInfo>& RunnerPort::bindings() const noexcept { return (state_ ? state_->layout : kNothing).bindings; }
std::int64_t RunnerPort::offset(int binding) const { return low_latency::offset_of(state_ ? state_->layout : kNothing, binding); }
std::int64_t RunnerPort::input_bytes() const noexcept { return state_ ? state_->layout.input_bytes : 0; }
std::int64_t RunnerPort::output_bytes() const noexcept { return state_ ? state_->layout.output_bytes : 0; }
RunnerPort::Counts RunnerPort::counts() const noexcept {
  if (!state_) return {};
  return {state_->submitted.load(), state_->rejected.load(), state_->dropped.load(), state_->polled.load(),
          state_->memory.head().answers_dropped.load()};
}

}  // namespace tenfold
