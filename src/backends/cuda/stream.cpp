// Launches and copies on one CUDA stream, its own or a caller's, and waiting for them.
#include "backends/cuda/stream.h"

#include <chrono>
#include <utility>

#include "backends/cuda/device/failures.h"
#include "backends/cuda/device/memory_kind.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr std::chrono::milliseconds kShortly{2};  // to be woken takes a tenth of one

StreamHandle default_stream() { return reinterpret_cast<StreamHandle>(std::uintptr_t{1}); }   // CU_STREAM_LEGACY

DevicePointer address(const void* p) { return reinterpret_cast<DevicePointer>(p); }

}  // namespace

CudaStream::CudaStream(Device& device) : queue_(device) {
  for (Event& e : marks_) expect(driver()->event_create(&e, kEventDefault), "cuEventCreate", "making an event");
  expect(driver()->event_create(&done_, kEventSleeping), "cuEventCreate", "making an event");
}
CudaStream::~CudaStream() {
  queue_.device.make_current();
  wait();
  for (Event e : marks_) driver()->event_destroy(e);
  for (Event e : moments_) driver()->event_destroy(e);
  for (StreamHandle s : branches_)
    if (s) driver()->stream_destroy(s);
  driver()->event_destroy(done_);
  if (end_) driver()->event_destroy(end_);
}

Status::Code CudaStream::noted(int result, const char* call) noexcept {
  if (result == kSuccess) return Status::ok;
  note_failure(result, call);
  describe(result, call, error_, sizeof error_);
  return status_of(result);
}

bool CudaStream::ready() noexcept {
  if (const int lost = queue_.device.lost()) return noted(lost, "an earlier call"), false;
  queue_.device.make_current();
  if (capturing_ || queue_.stream != queue_.own) return true;
  own_has_work_ = true;
  if (std::exchange(callers_have_work_, false)) follow_callers(queue_.own);
  return true;
}

void CudaStream::follow_callers(StreamHandle stream) noexcept {
  if (const StreamHandle noted = std::exchange(unnoted_, nullptr)) driver()->event_record(done_, noted);
  driver()->stream_follow(stream, done_, 0);
}

Status::Code CudaStream::launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept {
  if (!ready()) return Status::device;
  RunArgs here = args;
  here.queue = &queue_;
  const Status::Code code = tactic.run(kernel, here);
  if (code == Status::device) noted(std::exchange(queue_.failure, kSuccess), "cuLaunchKernelEx");
  return code;
}

Status::Code CudaStream::copy(void* to, const void* from, std::int64_t bytes) noexcept {
  if (bytes <= 0) return Status::ok;
  if (!ready()) return Status::device;
  if (Status::Code code = Status::ok; copy_staged(to, from, bytes, code)) return code;
  return noted(driver()->copy(address(to), address(from), static_cast<std::size_t>(bytes), queue_.stream), "cuMemcpyAsync");
}
// A large copy between the device and pageable memory; false: it is none, or the driver has to do it. The host waits for what is in front
// of it on the stream, as the driver would, but before it takes its turn: other streams' copies do not wait for this one's kernels.
bool CudaStream::copy_staged(void* to, const void* from, std::int64_t bytes, Status::Code& code) noexcept {
  constexpr std::uintptr_t kPerThread = 2;   // CU_STREAM_PER_THREAD: another stream in each thread that fills pieces
  if (bytes < kMinStaged || capturing_ || into_callers_graph_) return false;
  if (reinterpret_cast<std::uintptr_t>(queue_.stream) == kPerThread) return false;
  const MemoryKind there = kind_of(to), here = kind_of(from);
  const bool in = there == MemoryKind::device && here == MemoryKind::pageable;
  if (!in && !(there == MemoryKind::pageable && here == MemoryKind::device)) return false;
  StagedCopies* const staged = queue_.device.staged_copies();
  if (!staged) return false;
  if (code = noted(wait_for_work(), "cuStreamSynchronize"); code != Status::ok) return true;
  const auto [result, call] = in ? staged->to_device(address(to), from, bytes, queue_.stream)
                                 : staged->to_host(to, address(from), bytes, queue_.stream);
  return code = noted(result, call), true;
}

Status::Code CudaStream::fill(void* to, int byte, std::int64_t bytes) noexcept {
  if (bytes <= 0) return Status::ok;
  if (!ready()) return Status::device;
  const auto value = static_cast<unsigned char>(byte);
  return noted(driver()->fill(address(to), value, static_cast<std::size_t>(bytes), queue_.stream), "cuMemsetD8Async");
}

bool CudaStream::use(void* callers) noexcept {
  const StreamHandle to = callers ? static_cast<StreamHandle>(callers) : queue_.own;
  if (to == queue_.stream || queue_.device.lost()) return true;   // a lost device answers when it is asked for work
  queue_.device.make_current();
  if (queue_.stream != queue_.own) {
    // At once, for the caller may end its stream; but nobody ends the default one, and runs on it follow each other without an event.
    if (queue_.stream == default_stream()) unnoted_ = queue_.stream;
    else driver()->event_record(done_, queue_.stream);
    callers_have_work_ = true, own_has_work_ = false;
  } else if (own_has_work_) {
    driver()->event_record(done_, queue_.own);
    own_has_work_ = false;
    driver()->stream_follow(to, done_, 0);
  } else if (callers_have_work_ && to != unnoted_) {
    follow_callers(to);
  }
  queue_.redirect(to);
  return true;
}

// Asking again and again is what answers soonest; an event, which takes the host a microsecond to leave, lets it sleep.
int CudaStream::wait_for_work() noexcept {
  const Driver& d = *driver();
  if (how_ == Wait::spin) return d.stream_wait(queue_.stream);
  if (how_ == Wait::spin_shortly) {
    const auto until = std::chrono::steady_clock::now() + kShortly;
    while (std::chrono::steady_clock::now() < until)
      if (const int result = d.stream_query(queue_.stream); result != kNotReady) return result;
  }
  if (const int result = d.event_record(done_, queue_.stream); result != kSuccess) return result;
  return d.event_wait(done_);
}

// Whether an index lay outside since it was asked last.
bool CudaStream::take_bad_index() noexcept {
  auto& word = *static_cast<volatile std::uint32_t*>(queue_.bad_index);
  const bool outside = word != 0;
  word = 0;
  return outside;
}

Status::Code CudaStream::wait() noexcept {
  if (!ready()) return Status::device;
  const Status::Code code = noted(wait_for_work(), "cuStreamSynchronize");
  own_has_work_ = false;
  return take_bad_index() && code == Status::ok ? Status::bad_index : code;
}

Status::Code CudaStream::note_end() noexcept {
  if (!ready()) return Status::device;
  if (!end_)
    if (const int result = driver()->event_create(&end_, kEventSleeping); result != kSuccess) return noted(result, "cuEventCreate");
  return noted(driver()->event_record(end_, queue_.stream), "cuEventRecord");
}
// Leaves the words of an error to the thread that calls wait().
Status::Code CudaStream::wait_end() noexcept {
  queue_.device.make_current();
  const int result = driver()->event_wait(end_);
  if (result == kSuccess) return take_bad_index() ? Status::bad_index : Status::ok;
  note_failure(result, "cuEventSynchronize");
  return status_of(result);
}

void CudaStream::mark(int moment) noexcept {
  if (ready()) driver()->event_record(marks_[moment & 3], queue_.stream);
}
double CudaStream::between(int first, int last) const noexcept {
  float ms = 0;
  return driver()->event_elapsed(&ms, marks_[first & 3], marks_[last & 3]) == kSuccess ? static_cast<double>(ms) : 0;
}

}  // namespace tenfold::backends::cuda
