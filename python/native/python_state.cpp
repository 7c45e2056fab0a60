#include "native/python_state.h"

#include <unistd.h>

#include <atomic>

namespace tenfold::python {
namespace {
std::atomic<bool> is_leaving{false}, has_ended{false};
std::atomic<int> working{0};   // threads without the lock
}  // namespace

void stand_still() noexcept {
  for (;;) ::pause();
}

void begin_leaving() noexcept { is_leaving.store(true); }
bool leaving() noexcept { return is_leaving.load(std::memory_order_relaxed); }

void wait_at_the_end() noexcept {
  static_cast<void>(Py_AtExit([] {
    has_ended.store(true);
    constexpr int kMaxLooks = 3000;   // a millisecond each
    for (int i = 0; i < kMaxLooks && working.load() > 0; ++i) ::usleep(1000);
  }));
}
void forget_threads() noexcept { working.store(0); }
bool ended() noexcept { return has_ended.load(std::memory_order_relaxed); }

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

Unlocked::Unlocked() {
  working.fetch_add(1);
  state_ = PyEval_SaveThread();
}
Unlocked::~Unlocked() {
  working.fetch_sub(1);   // what follows either has the lock, or stands still
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
