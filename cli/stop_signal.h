// Ctrl-C and SIGTERM as a question that long work asks, for verbs that keep what is done so far.
#pragma once

#include "tenfold/internal/interrupts.h"

namespace tenfold::cli {

// While it lives, the first of these signals ends no more than the work of this thread, with Error(cancelled); the second ends the process.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  static bool came() noexcept;   // from any thread
  // Ends the process as the signal does that came, so that whoever waits for it can tell.
  [[noreturn]] static void end();

 private:
  Interrupts interrupts_;
};

}  // namespace tenfold::cli
