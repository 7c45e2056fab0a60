#include "python_state.h"

#include <atomic>

namespace tenfold::python {
namespace {
std::atomic<bool> is_leaving{false};
}

void begin_leaving() noexcept { is_leaving.store(true); }
bool leaving() noexcept { return is_leaving.load(std::memory_order_relaxed); }

Held hold(nb::handle object) {
  if (!object.is_valid() || object.is_none()) return {};
  return Held(object.inc_ref().ptr(), [](PyObject* p) {
    if (leaving()) return;   // the process ends; there may be no interpreter to count for
    nb::gil_scoped_acquire acquire;
    Py_DECREF(p);
  });
}

}  // namespace tenfold::python
