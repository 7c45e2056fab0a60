// Asking, in the middle of long work, whether it is to go on: for callers with signals to look at, who cannot wait for a step of progress.
#pragma once

#include <functional>

#include "tenfold/export.h"

namespace tenfold {

// While it lives, what this thread does asks `go_on` now and then: before each pass and each measurement of a build, many times a second.
// False ends the work with ErrorKind::cancelled. `go_on` must not throw.
class TENFOLD_API Interrupts {
 public:
  explicit Interrupts(std::function<bool()> go_on);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  friend void ask_whether_to_go_on();
  std::function<bool()> go_on_;
  Interrupts* outer_;
};

TENFOLD_API void ask_whether_to_go_on();   // throws Error(cancelled)

}  // namespace tenfold
