// The program's side of NVTX version 3, which NVIDIA gives as headers only: the profiler names its library in NVTX_INJECTION64_PATH.
#include "base/nvtx.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace tenfold {
namespace {

// As NVTX numbers them.
constexpr unsigned kCallbacks = 1, kVersionInfo = 3;    // tables that the profiler asks for
constexpr unsigned kCore = 1, kModules = 7;             // modules of functions
constexpr unsigned kRangePush = 9, kRangePop = 11, kMax = 17;   // functions of kCore; the most that any module has
constexpr unsigned kFunctions[kModules] = {0, 16, 9, 15, 7, 16, 7};   // of each module, the unused number 0 included

using Function = void (*)();
Function functions[kModules][kMax];
Function* places[kModules][kMax];

int functions_of(unsigned module, Function*** table, unsigned* size) {
  if (module == 0 || module >= kModules) return 0;
  for (unsigned f = 1; f < kFunctions[module]; ++f) places[module][f] = &functions[module][f];
  if (table) *table = places[module];
  if (size) *size = kFunctions[module];
  return 1;
}
void take_version(std::uint32_t) {}

const void* table_of(unsigned number) {
  static const struct {
    std::size_t bytes;
    int (*functions_of)(unsigned, Function***, unsigned*);
  } callbacks{sizeof callbacks, functions_of};
  static const struct {
    std::size_t bytes;
    std::uint32_t version, reserved;
    void (*take)(std::uint32_t);
  } version{sizeof version, 3, 0, take_version};
  return number == kCallbacks ? static_cast<const void*>(&callbacks) : number == kVersionInfo ? &version : nullptr;
}

void open_range(const char* name) { reinterpret_cast<int (*)(const char*)>(functions[kCore][kRangePush])(name); }
void close_range() { reinterpret_cast<int (*)()>(functions[kCore][kRangePop])(); }

NvtxInitialize initialize_of_profiler() noexcept {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");   // NVTX's own way to be told; asked only where marks are wanted
  void* library = path ? dlopen(path, RTLD_LAZY) : nullptr;
  return library ? reinterpret_cast<NvtxInitialize>(dlsym(library, "InitializeInjectionNvtx2")) : nullptr;
}

}  // namespace

bool attach_profiler(NvtxInitialize initialize, RangeMarks& marks) noexcept {
  marks = {};
  if (!initialize || initialize(table_of) == 0 || !functions[kCore][kRangePush] || !functions[kCore][kRangePop]) return false;
  marks = {open_range, close_range};
  return true;
}

const RangeMarks* range_marks() noexcept {
  static RangeMarks marks;
  static const bool attached = attach_profiler(initialize_of_profiler(), marks);
  return attached ? &marks : nullptr;
}

}  // namespace tenfold
