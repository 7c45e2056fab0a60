#include "native/long_call.h"

#include <utility>

namespace tenfold::python {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);  // for signals
thread_local LongCall* innermost = nullptr;

}  // namespace

LongCall* LongCall::current() noexcept { return innermost; }
LongCall::Entered::Entered(LongCall& call) noexcept : outer(std::exchange(innermost, &call)) {}
LongCall::Entered::~Entered() { innermost = outer; }

bool LongCall::failed() const noexcept {
  const std::lock_guard lock(mutex_);
  return exception_ != nullptr;
}

void LongCall::keep(nb::object error) noexcept {
  Held held = hold(error);
  const std::lock_guard lock(mutex_);
  if (!exception_) exception_ = std::move(held);
}

// Handlers run in the main thread alone; elsewhere no signal is found.
bool LongCall::look() noexcept {
  if (failed() || ended()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (leaving() || now - looked_ < kBetweenLooks) return true;
  looked_ = now;
  const Locked locked;
  if (PyErr_CheckSignals() == 0) return true;
  keep(take_exception());
  return false;
}

void LongCall::raise_kept() {
  Held raised;
  {
    const std::lock_guard lock(mutex_);
    raised = std::exchange(exception_, nullptr);
  }
  if (!raised) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.get())), raised.get());
  throw nb::python_error();
}

nb::object take_exception() noexcept {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr && value != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type), Py_XDECREF(trace);
  return nb::steal(value);
}

}  // namespace tenfold::python
