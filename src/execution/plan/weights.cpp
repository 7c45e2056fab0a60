// Mapping costs page faults on the first run and small pages for ever: a tenth of the time of BERT at one thread. Memory in huge pages
// pays once, while loading.
#include "plan/weights.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/memory_limit.h"
#include "base/system_error.h"
#include "base/threads/spread.h"

namespace tenfold::plan {
namespace {

constexpr std::size_t kHugePage = 2 << 20;

// Anonymous memory that starts on a huge page; nothing where there is no room. The mapping is larger by one page; what is not needed stays
// untouched.
std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const std::size_t mapped = bytes + kHugePage;
  void* start = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return {};
  const std::shared_ptr<void> owner(start, [mapped](void* memory) { ::munmap(memory, mapped); });
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(start) % kHugePage;
  auto* aligned = static_cast<std::byte*>(start) + (misaligned ? kHugePage - misaligned : 0);
  ::madvise(aligned, bytes, MADV_HUGEPAGE);   // advice: kernels without huge pages refuse it, harmlessly
  return {owner, aligned};
}

// Fresh pages have to be cleared, which takes the system as long as copying: several threads share both.
void copy(std::byte* to, std::span<const std::byte> from) {
  constexpr std::size_t kChunk = 2 << 20;   // what each thread holds twice
  const MaySpread may_spread;
  const auto chunks = static_cast<std::int64_t>((from.size() + kChunk - 1) / kChunk);
  spread(chunks, static_cast<std::int64_t>(from.size()), [&](std::int64_t i) {
    const std::size_t begin = static_cast<std::size_t>(i) * kChunk;
    const auto chunk = from.subspan(begin, std::min(kChunk, from.size() - begin));
    std::memcpy(to + begin, chunk.data(), chunk.size());
  });
}

void lock(std::span<const std::byte> bytes) {
  require_system(::mlock(bytes.data(), bytes.size()) == 0, ErrorKind::out_of_memory, "cannot lock ", bytes.size(),
                 " bytes of weights in memory (raise the limit of locked memory, or choose another mode)");
}

}  // namespace

void place_weights(Plan& plan, std::span<const std::byte> bytes, std::shared_ptr<const void> owner, WeightsMode mode, bool own_memory) {
  plan.weights_bytes = static_cast<std::int64_t>(bytes.size());
  if (bytes.empty()) return;
  if (owner && (own_memory || mode == WeightsMode::map)) {
    if (mode == WeightsMode::lock) lock(bytes);
    plan.weights = bytes.data();
    plan.weights_owner = std::move(owner);
    return;
  }
  expect_memory(plan.weights_bytes, "memory for the plan's weights");
  const std::shared_ptr<std::byte> own = allocate(bytes.size());
  require(own != nullptr, ErrorKind::out_of_memory, "cannot allocate ", bytes.size(), " bytes for the plan's weights");
  copy(own.get(), bytes);
  if (mode == WeightsMode::lock) lock({own.get(), bytes.size()});
  ::mprotect(own.get(), bytes.size(), PROT_READ);   // a plan is shared and immutable; best effort, whole pages
  plan.weights = own.get();
  plan.weights_owner = own;
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
