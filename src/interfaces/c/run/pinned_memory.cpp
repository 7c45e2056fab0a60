// Pinned memory, from C.
#include "tenfold/c/pinned_memory.h"

#include <limits>

#include "c/run/common.h"
#include "tenfold/pinned_memory.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_pinned_memory {
  PinnedMemory memory;
};

namespace {

std::int64_t signed_bytes(std::size_t bytes) {
  if (bytes <= static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) return static_cast<std::int64_t>(bytes);
  throw Error(ErrorKind::out_of_memory, "memory of " + std::to_string(bytes) + " bytes: there are fewer addresses");
}

}  // namespace

extern "C" tenfold_status tenfold_pinned_memory_create(const tenfold_runtime* runtime, const char* device, size_t bytes,
                                                       tenfold_pinned_memory** memory) {
  return guarded([&] {
    const std::string where = &need(device, "the device");
    place(memory, "the place for the memory",
          [&] { return new tenfold_pinned_memory{PinnedMemory(where, signed_bytes(bytes), runtime_of(runtime))}; });
  });
}
extern "C" tenfold_status tenfold_pinned_memory_register(const tenfold_runtime* runtime, const char* device, void* callers, size_t bytes,
                                                         tenfold_pinned_memory** memory) {
  return guarded([&] {
    const std::string where = &need(device, "the device");
    place(memory, "the place for the memory", [&] {
      return new tenfold_pinned_memory{PinnedMemory::of_callers(where, callers, signed_bytes(bytes), runtime_of(runtime))};
    });
  });
}
extern "C" void tenfold_pinned_memory_free(tenfold_pinned_memory* memory) { delete memory; }
extern "C" tenfold_status tenfold_pinned_memory_get_info(const tenfold_pinned_memory* memory, tenfold_pinned_memory_info* info) {
  return guarded([&] {
    const PinnedMemory& m = need(memory, "the memory").memory;
    give(info, {0, m.memory(), static_cast<std::size_t>(m.bytes()), m.pinned() ? 1 : 0}, "the place for the information");
  });
}
