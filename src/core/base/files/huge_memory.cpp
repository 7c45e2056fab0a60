#include "base/files/huge_memory.h"

#include <sys/mman.h>

#include <cstring>

#include "base/checked.h"

namespace tenfold {

std::shared_ptr<void> map_huge(std::int64_t bytes) {
  constexpr std::int64_t kHuge = 2 << 20;
  const std::int64_t size = round_up(bytes, kHuge), mapped = checked_add(size, kHuge);
  void* const memory = mmap(nullptr, static_cast<std::size_t>(mapped), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  void* const aligned = reinterpret_cast<void*>(round_up(reinterpret_cast<std::int64_t>(memory), kHuge));
  // What begins a last huge page lies in small ones: of 2.3 MiB, which weights often have, two huge pages would take 4.
  if (const std::int64_t whole = bytes / kHuge * kHuge; whole > 0) madvise(aligned, static_cast<std::size_t>(whole), MADV_HUGEPAGE);
  return {aligned, [memory, mapped](void*) { munmap(memory, static_cast<std::size_t>(mapped)); }};
}

void clear_pages(std::byte* begin, std::byte* end) {
  constexpr std::int64_t kPage = 4096;
  auto* const first = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::int64_t>(begin), kPage));
  auto* const last = reinterpret_cast<std::byte*>(reinterpret_cast<std::int64_t>(end) / kPage * kPage);
  if (first >= last || madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED) != 0) {
    std::memset(begin, 0, static_cast<std::size_t>(end - begin));
    return;
  }
  std::memset(begin, 0, static_cast<std::size_t>(first - begin));
  std::memset(last, 0, static_cast<std::size_t>(end - last));
}

}  // namespace tenfold
