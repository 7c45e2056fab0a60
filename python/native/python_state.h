// The interpreter from threads that are not its own: taking its lock, and holding objects that any thread may let go.
#pragma once

#include <memory>

#include "native.h"

namespace tenfold::python {

void begin_leaving() noexcept;   // from now on nobody may enter the interpreter from outside
bool leaving() noexcept;

// A Python object that C++ may keep and drop on any thread.
using Held = std::shared_ptr<PyObject>;
Held hold(nb::handle object);    // with the GIL

// Drops what may wait for threads (which may wait for the GIL themselves).
template <class T>
void drop_without_gil(T& what) noexcept {
  if (leaving()) return static_cast<void>(what = {});
  nb::gil_scoped_release release;
  what = {};
}

}  // namespace tenfold::python
