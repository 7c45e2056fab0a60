// The distribution's oneDNN, opened at run time: whether it can be used here, and by which version and instruction set.
//
// Its own OpenMP threads are never used: every call runs with one OpenMP thread, from the worker that wants the part done.
#pragma once

#include <string>

#include "backends/tactic.h"

namespace tenfold::backends::cpu::onednn {

struct LibraryInfo {
  std::string absence;           // why it cannot be used; empty: it can
  std::string text;              // "oneDNN 2.6.3"
  std::int64_t version = 0;      // 20603
  std::int64_t isa = 0;          // what its code generator uses, as the library numbers it
};
// Looked up once, at the first call.
const LibraryInfo& library_info();

// Its code generator always uses all that this CPU has, so a device with fewer features is refused.
Verdict usable(const DeviceInfo& device);

// Packings and code differ between versions: the last two numbers of every config name what made it.
Config stamped(std::int64_t parts);
Verdict stamp_fits(const Config& config, std::int64_t max_parts);

}  // namespace tenfold::backends::cpu::onednn
