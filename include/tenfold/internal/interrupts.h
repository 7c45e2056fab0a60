// Asks during long work whether it is to go on. It serves callers that must look at signals and cannot wait for a step
// of progress.
#pragma once

#include <functional>

#include "tenfold/export.h"

namespace tenfold {

// While the object lives, work in this thread asks `go_on` before each pass and each measurement of a build, before each
// step of a run and between texts, many times a second. If it returns false, the work ends with ErrorKind::cancelled, a
// run with Status::cancelled. `go_on` must not throw.
class TENFOLD_API Interrupts {
 public:
  explicit Interrupts(std::function<bool()> go_on);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  friend bool interrupted() noexcept;
  std::function<bool()> go_on_;
  Interrupts* outer_;
};

TENFOLD_API bool interruptible() noexcept;   // whether anybody is asked in this thread
TENFOLD_API bool interrupted() noexcept;     // asks; false where nobody is asked
TENFOLD_API void ask_whether_to_go_on();     // throws Error(cancelled)

}  // namespace tenfold
