// The interpreter from threads that are not its own: taking its lock, and holding objects that any thread may let go.
#pragma once

#include <cxxabi.h>

#include <memory>

#include "native/native.h"

namespace tenfold::python {

void begin_leaving() noexcept;  // from now on nobody may enter the interpreter from outside
bool leaving() noexcept;
// Once the interpreter has gone, whoever works without its lock (a daemon thread's build, say) is waited for, a few seconds at most, before
// the process takes its libraries down. Builds end early then. To be called once.
void wait_at_the_end() noexcept;
bool ended() noexcept;   // it has gone
void forget_threads() noexcept;   // in a fork, which has none of the others

[[noreturn]] void stand_still() noexcept;   // until the process ends

// What enters the interpreter, or runs in it. Once the interpreter has gone, CPython ends a daemon thread that wants its lock, in the
// middle of C++ that cannot be left so: such a thread stands still instead. What is caught is no object: UBSan would say so.
template <class Act>
__attribute__((no_sanitize("undefined"))) auto unless_ended(Act act) {
  try {
    return act();
  } catch (abi::__forced_unwind&) {
    stand_still();
  }
}

// Without the interpreter's lock, and with it again; from a thread of Python's.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};
// With the lock, from any thread.
class Locked {
 public:
  Locked();
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// For threads that are not Python's and come in again and again: what the interpreter has of this one stays until the thread ends, since
// making that anew takes longer than a small run. Without the lock.
void stay_known() noexcept;

// A Python object that C++ may keep and drop on any thread.
using Held = std::shared_ptr<PyObject>;
Held hold(nb::handle object);  // with the GIL

// Drops what may wait for threads (which may wait for the GIL themselves).
template <class T>
void drop_without_gil(T& what) noexcept {
  if (leaving()) return static_cast<void>(what = {});
  const Unlocked unlocked;
  what = {};
}

}  // namespace tenfold::python
