// Runtime: what several engines of a process have in common. A process may have several, for parts that are to stay apart.
#pragma once

#include <cstdint>
#include <memory>

#include "tenfold/export.h"
#include "tenfold/log.h"

namespace tenfold {

struct RuntimeOptions {
  int threads = 0;     // processors that all its engines share among their workers; 0: from affinity mask and cgroup quota
  LogCallback log;     // of engines and builds that have none of their own
};

// What a runtime holds now.
struct RuntimeUse {
  int engines = 0;
  int weights = 0;                 // sets of weights that loaded engines have, each counted once
  std::int64_t weight_bytes = 0;   // of all of these
};

// Engines of one runtime share
// - workers: contexts take pools of them in turn, no more than there are processors. Contexts that run at the same time beyond that
//   share a pool, and who finds it busy computes alone.
// - weights: plans whose weights are equal, byte for byte, have them once on each device while any of their engines lives. (Plans that
//   were loaded without LoadOptions::verify_weights share nothing.)
// - the log.
// Two runtimes share none of these. What belongs to the machine rather than to a part of the program is one for the whole process:
// a GPU's driver context, its state after an error, and the kernels that were compiled for it; processors that contexts are pinned to.
//
// Thread safe. Engines keep their runtime alive.
class TENFOLD_API Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});   // throws invalid_argument; std::make_shared<Runtime>() for LoadOptions and BuildConfig
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // That of engines without one of their own: made at first use and never ended. It gives each engine workers of its own, and has no log.
  static const std::shared_ptr<Runtime>& of_process();

  RuntimeUse use() const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
