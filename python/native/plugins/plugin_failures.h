// What the Python of a plug-in raises: a number and a text for the engine, and the exception itself for the error that the user gets.
#pragma once

#include <cstdint>

#include "native/python_state.h"

namespace tenfold::python {

// Of the exception that `e` holds, which is kept for cause_of(): writes "ValueError: alpha is zero" and returns plugin_abi.h's number.
// `value_error`: the number of what is a ValueError. Arrays that its frames hold are dropped, for their memory is the engine's.
std::int32_t keep_failure(nb::python_error& e, std::int32_t value_error, char* why, std::size_t bytes);
std::int32_t say_failure(const char* what, std::int32_t number, char* why, std::size_t bytes) noexcept;
// The kept exception that an error's message tells of; none: an invalid handle. With the interpreter's lock.
nb::object cause_of(const std::string& message);

// Calls Python for the engine, from any of its threads; nothing is thrown.
template <class Act>
std::int32_t call_python(std::int32_t value_error, char* why, std::size_t bytes, Act act) noexcept {
  constexpr std::int32_t kCancelled = 8, kInternal = 9;
  if (leaving()) return say_failure("the interpreter has gone", kCancelled, why, bytes);
  const Locked locked;
  try {
    return unless_ended(act);
  } catch (nb::python_error& e) {
    return keep_failure(e, value_error, why, bytes);
  } catch (const std::exception& e) {
    return say_failure(e.what(), kInternal, why, bytes);
  }
}

}  // namespace tenfold::python
