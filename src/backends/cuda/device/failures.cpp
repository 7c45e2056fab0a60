// Failures by GPU, and in words.
#include "backends/cuda/device/failures.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>

#include "backends/cuda/device/driver.h"
#include "backends/cuda/device/memory_left.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kMaxDevices = 64;

thread_local int current = -1;

struct Slot {
  std::atomic<int> number{0};
  std::atomic<bool> lost{false};
  std::atomic<const char*> call{""};
};
std::array<Slot, kMaxDevices>& slots() {
  static std::array<Slot, kMaxDevices> all;
  return all;
}
bool counts(int ordinal) { return ordinal >= 0 && ordinal < kMaxDevices; }

struct Libraries {
  std::mutex mutex;
  std::array<std::string, kMaxDevices> names;
};
Libraries& libraries() {
  static Libraries all;
  return all;
}

const char* words_of(int result) {
  const char* words = nullptr;
  if (const Driver* d = driver()) d->error_string(result, &words);
  return words ? words : "unknown error";
}
std::atomic<ErrorName>& error_names() {
  static std::atomic<ErrorName> names{nullptr};
  return names;
}
const char* symbol_of(int result) {
  const char* symbol = nullptr;
  if (const ErrorName names = error_names().load(std::memory_order_relaxed)) names(result, &symbol);
  return symbol ? symbol : "";
}
std::atomic<bool> is_fork{false};
std::string version_text(int version) { return cat(version / 1000, ".", version % 1000 / 10); }
int driver_version() {
  int version = 0;
  if (const Driver* d = driver()) d->driver_version(&version);
  return version;
}

}  // namespace

void working_for(int ordinal) noexcept { current = ordinal; }

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { is_fork.store(true, std::memory_order_relaxed); }); });
}

void note_failure(int result, const char* call) noexcept {
  if (!counts(current) || result == kSuccess) return;
  Slot& slot = slots()[static_cast<std::size_t>(current)];
  if (slot.lost.load(std::memory_order_relaxed)) return;   // what lost it explains all that follows
  slot.number.store(result, std::memory_order_relaxed), slot.call.store(call, std::memory_order_relaxed);
  if (is_for_good(result)) slot.lost.store(true, std::memory_order_relaxed);
}
bool is_lost(int ordinal) noexcept {
  if (is_fork.load(std::memory_order_relaxed)) return true;
  return counts(ordinal) && slots()[static_cast<std::size_t>(ordinal)].lost.load(std::memory_order_relaxed);
}

int lost_by(int ordinal) noexcept {
  constexpr int kNotInitialized = 3;   // CUDA's own answer, where it notices
  if (is_fork.load(std::memory_order_relaxed)) return kNotInitialized;
  return is_lost(ordinal) ? slots()[static_cast<std::size_t>(ordinal)].number.load(std::memory_order_relaxed) : 0;
}
std::string why_lost(int ordinal) {
  const std::optional<DeviceError> error = last_failure(ordinal);
  char words[kErrorText];
  describe(lost_by(ordinal), error ? error->call.c_str() : "an earlier call", words, sizeof words);
  return words;
}
void expect_usable(int ordinal) {
  if (is_lost(ordinal)) fail(ErrorKind::device, cat("the GPU cuda:", ordinal, " is lost: ", why_lost(ordinal)));
}

void name_libraries(int ordinal, const std::string& names) {
  if (!counts(ordinal)) return;
  const std::lock_guard lock(libraries().mutex);
  libraries().names[static_cast<std::size_t>(ordinal)] = names;
}

std::optional<DeviceError> last_failure(int ordinal) {
  if (!counts(ordinal)) return std::nullopt;
  const Slot& slot = slots()[static_cast<std::size_t>(ordinal)];
  DeviceError e;
  e.number = slot.number.load(std::memory_order_relaxed);
  if (e.number == 0) return std::nullopt;
  e.device = cat("cuda:", ordinal), e.call = slot.call.load(std::memory_order_relaxed);
  e.symbol = symbol_of(e.number), e.words = words_of(e.number), e.driver_version = driver_version();
  const std::lock_guard lock(libraries().mutex);
  e.libraries = libraries().names[static_cast<std::size_t>(ordinal)];
  return e;
}

std::string memory_left() {
  std::size_t free = 0, total = 0;
  if (const Driver* d = driver()) d->memory_info(&free, &total);
  return cat(free, " of ", total, " are free; smaller shapes (--maxShapes, a smaller batch), less workspace ",
             "(--memPoolSize=workspace:MiB) or fp16 take less");
}

void expect(int result, const char* call, const char* doing) {
  if (result == kSuccess) return;
  note_failure(result, call);
  char words[kErrorText];
  describe(result, call, words, sizeof words);
  const std::optional<DeviceError> all = last_failure(current);
  fail(result == kOutOfMemory ? ErrorKind::out_of_memory : ErrorKind::device,
       cat("CUDA, ", doing, ": ", words, "; driver for CUDA ", version_text(driver_version()), all && !all->libraries.empty() ? ", " : "",
           all ? all->libraries : "", result == kOutOfMemory ? cat("; of the GPU's bytes ", memory_left()) : ""));
}

void describe(int result, const char* call, char* text, std::size_t bytes) noexcept {
  const char* symbol = symbol_of(result);
  std::snprintf(text, bytes, "%s answered %s (%d): %s%s", call, *symbol ? symbol : "an error", result, words_of(result),
                is_fork.load(std::memory_order_relaxed)
                    ? "; this process was forked from one that uses the GPU, which CUDA forbids: fork before, or start it with 'spawn'"
                : is_for_good(result) ? "; this process cannot use the GPU any more: start it again"
                                      : "");
}

void expect_driver(int version) {
  constexpr int kNeeded = 11080;   // the first with cuLaunchKernelEx
  require(version >= kNeeded, ErrorKind::device, "the NVIDIA driver is too old: it is for CUDA ", version_text(version),
          ", one for CUDA ", version_text(kNeeded), " or later is needed; install a newer driver");
}
void expect_capability(const char* name, int major, int minor) {
  require(major * 10 + minor >= 75, ErrorKind::device, "the GPU '", name, "' has compute capability ", major, ".", minor,
          ", 7.5 or later is needed");
}

ErrorName use_error_names(ErrorName names) noexcept { return error_names().exchange(names); }

}  // namespace tenfold::backends::cuda
