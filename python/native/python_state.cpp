#include "python_state.h"

#include <unistd.h>

#include <atomic>

namespace tenfold::python {
namespace {
std::atomic<bool> is_leaving{false};
}  // namespace

void stand_still() noexcept {
  for (;;) ::pause();
}

void begin_leaving() noexcept { is_leaving.store(true); }
bool leaving() noexcept { return is_leaving.load(std::memory_order_relaxed); }

namespace {

class Known {
 public:
  Known() : mark_(unless_ended([] { return PyGILState_Ensure(); })), state_(PyEval_SaveThread()) {}
  ~Known() {
    if (leaving()) return;   // the interpreter ends, and drops what it has of threads
    unless_ended([&] { PyEval_RestoreThread(state_); });
    PyGILState_Release(mark_);
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

 private:
  PyGILState_STATE mark_;
  PyThreadState* state_;
};

}  // namespace

void stay_known() noexcept {
  thread_local Known known;
  static_cast<void>(known);
}

Unlocked::~Unlocked() {
  unless_ended([&] { PyEval_RestoreThread(state_); });
}
Locked::Locked() : state_(unless_ended([] { return PyGILState_Ensure(); })) {}

Held hold(nb::handle object) {
  if (!object.is_valid() || object.is_none()) return {};
  return Held(object.inc_ref().ptr(), [](PyObject* p) {
    if (leaving()) return;  // the process ends; there may be no interpreter to count for
    const Locked locked;
    Py_DECREF(p);
  });
}

}  // namespace tenfold::python
