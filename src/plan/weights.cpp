// Mapping costs page faults on the first run and small pages for ever; a copy in huge pages pays once, while loading.
#include "plan/weights.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/check.h"

namespace tenfold::plan {
namespace {

constexpr std::size_t kHugePage = 2 << 20;

// Anonymous memory that starts on a huge page. The mapping is larger by one page; what is not needed stays untouched.
std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const std::size_t mapped = bytes + kHugePage;
  void* start = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(start != MAP_FAILED, ErrorKind::out_of_memory, "cannot allocate ", bytes, " bytes for the plan's weights");
  const std::shared_ptr<void> owner(start, [mapped](void* memory) { ::munmap(memory, mapped); });
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(start) % kHugePage;
  auto* aligned = static_cast<std::byte*>(start) + (misaligned ? kHugePage - misaligned : 0);
  ::madvise(aligned, bytes, MADV_HUGEPAGE);   // advice: kernels without huge pages refuse it, harmlessly
  return {owner, aligned};
}

}  // namespace

void place_weights(Plan& plan, std::span<const std::byte> bytes, std::shared_ptr<const void> owner, WeightsMode mode) {
  plan.weights_bytes = static_cast<std::int64_t>(bytes.size());
  if (bytes.empty()) return;
  if (owner && mode == WeightsMode::map) {
    plan.weights = bytes.data();
    plan.weights_owner = std::move(owner);
    return;
  }
  const std::shared_ptr<std::byte> copy = allocate(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  if (mode == WeightsMode::lock)
    require(::mlock(copy.get(), bytes.size()) == 0, ErrorKind::out_of_memory, "cannot lock ", bytes.size(), " bytes of weights in memory: ",
            std::generic_category().message(errno), " (raise the limit of locked memory, or choose another mode)");
  ::mprotect(copy.get(), bytes.size(), PROT_READ);   // a plan is shared and immutable; best effort, whole pages
  plan.weights = copy.get();
  plan.weights_owner = copy;
}

void touch_weights(const Plan& plan) noexcept {
  constexpr std::uintptr_t kPage = 4096;
  if (plan.weights_bytes == 0) return;
  const auto first = reinterpret_cast<std::uintptr_t>(plan.weights) / kPage * kPage;
  const std::uintptr_t bytes = reinterpret_cast<std::uintptr_t>(plan.weights) + static_cast<std::uintptr_t>(plan.weights_bytes) - first;
  void* const start = reinterpret_cast<void*>(first);
#ifdef MADV_POPULATE_READ
  if (::madvise(start, bytes, MADV_POPULATE_READ) == 0) return;   // since Linux 5.14
#endif
  for (std::uintptr_t at = 0; at < bytes; at += kPage) static_cast<void>(static_cast<const volatile std::byte*>(start)[at]);
}

}  // namespace tenfold::plan
