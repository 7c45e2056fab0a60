// Ranges in the timeline of a profiler that listens by NVTX, such as Nsight Systems: nested, one stack per thread.
#pragma once

namespace tenfold {

struct RangeMarks {
  void (*open)(const char* name) = nullptr;
  void (*close)() = nullptr;
};
// Null: no profiler has put itself into this process.
const RangeMarks* range_marks() noexcept;

// How NVTX reaches a profiler: its library's InitializeInjectionNvtx2 asks for tables of places, and writes its functions there.
// False: it wrote none for ranges.
using NvtxExport = const void* (*)(unsigned table);
using NvtxInitialize = int (*)(NvtxExport);
bool attach_profiler(NvtxInitialize initialize, RangeMarks& marks) noexcept;

}  // namespace tenfold
