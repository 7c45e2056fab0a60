// One call of the extension that may take long: work without the interpreter's lock, which ends when a signal's handler raises (Ctrl-C).
#pragma once

#include <chrono>
#include <mutex>

#include "native/python_state.h"
#include "tenfold/error.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::python {

class LongCall {
 public:
  LongCall() = default;
  LongCall(const LongCall&) = delete;
  LongCall& operator=(const LongCall&) = delete;
  static LongCall* current() noexcept;   // the innermost of this thread whose work is under way; null: none

  // Calls `work` without the lock. Then raises what was kept, if anything was, in place of what the work gives or throws.
  template <class Work>
  auto run(Work&& work) {
    try {
      if constexpr (std::is_void_v<decltype(work())>) {
        unlocked(work);
        raise_kept();
      } else {
        auto result = unlocked(work);
        raise_kept();
        return result;
      }
    } catch (const Error&) {
      raise_kept();
      throw;
    }
  }

  // The exception that the call is to end with; the first one stays. Any thread, with the lock.
  void keep(nb::object error) noexcept;
  bool failed() const noexcept;

 private:
  template <class Work>
  auto unlocked(Work& work) {
    const Entered entered(*this);
    const Interrupts interrupts([this]() noexcept { return look(); });
    const Unlocked without;
    return work();
  }
  struct Entered {
    explicit Entered(LongCall& call) noexcept;
    ~Entered();
    LongCall* outer;
  };
  bool look() noexcept;   // for signals, now and then; false: the work is to end
  void raise_kept();

  mutable std::mutex mutex_;
  Held exception_;
  std::chrono::steady_clock::time_point looked_{};
};

// The exception that is set, which is none any more. With the lock.
nb::object take_exception() noexcept;

}  // namespace tenfold::python
