// Asks during long work whether it is to go on. It serves callers that must look at signals and cannot wait for a step
// of progress.
#pragma once

#include <functional>
#include <string>

#include "tenfold/export.h"

namespace tenfold {

// While the object lives, work in this thread asks `go_on` before each node that is imported, typed or run by itself, each
// pass and each measurement of a build, before each step of a run and between texts, many times a second. If it returns
// false, the work ends with ErrorKind::cancelled and the words of `why`, a run with Status::cancelled. Neither may throw.
// Objects may live inside each other: all are asked.
class TENFOLD_API Interrupts {
 public:
  explicit Interrupts(std::function<bool()> go_on, std::function<std::string()> why = {});
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  friend TENFOLD_API const Interrupts* who_ends_work();
  friend void throw_if_cancelled();
  std::function<bool()> go_on_;
  std::function<std::string()> why_;
  Interrupts* outer_;
};

TENFOLD_API bool interruptible() noexcept;          // whether anybody is asked in this thread
TENFOLD_API bool interrupted() noexcept;            // asks; false where nobody is asked
TENFOLD_API void throw_if_cancelled();            // throws Error(cancelled)
TENFOLD_API const Interrupts* who_ends_work();      // null: throw_if_cancelled() would not throw

}  // namespace tenfold
