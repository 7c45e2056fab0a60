// Errors on their way to Python: kinds as the classes of tenfold/errors.py, run statuses with the step that they concern.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "native/native.h"
#include "tenfold/error.h"

namespace tenfold::python {

// Raises the class of the kind. `step`: of a run, as describe() names it; empty: none.
[[noreturn]] void raise_error(ErrorKind kind, const std::string& message, const std::string& step = "");
[[noreturn]] void raise_type_error(const std::string& message);
// The status of a run or of a call of a context, whose describe() is given.
[[noreturn]] void raise_status(Status status, const std::string& description);

// A sentence of the library for a reader who writes Python: flags of the program and fields of C++ become keywords (words.cpp).
std::string python_words(std::string_view text);

// What was thrown becomes the interpreter's error: for code that nanobind does not call.
void set_error_of(const std::exception_ptr& thrown) noexcept;
// False: `act` threw, and `error` is Python's exception for it.
template <class Act>
bool goes_well(Act act, nb::object& error) {
  try {
    act();
    return true;
  } catch (const nb::python_error& e) {
    error = nb::borrow(e.value());
  } catch (...) {
    set_error_of(std::current_exception());
    const nb::python_error e;
    error = nb::borrow(e.value());
  }
  return false;
}

}  // namespace tenfold::python
