#include "native/plugins/plugin_failures.h"

#include <algorithm>
#include <cstdio>
#include <deque>

#include "native/arrays/arrays.h"

namespace tenfold::python {
namespace {

struct Failure {
  std::string text;
  PyObject* exception;  // owned; never freed behind the interpreter's back, at its end
};
constexpr std::size_t kKept = 8;  // tactics that fail while they are timed leave some that nobody asks for
constexpr std::size_t kCompared = 200;

std::deque<Failure>& kept() {  // under the interpreter's lock
  static auto* all = new std::deque<Failure>;
  return *all;
}

std::int32_t number_of(nb::handle exception, std::int32_t value_error) {
  const auto is = [&](PyObject* kind) { return PyErr_GivenExceptionMatches(exception.ptr(), kind) != 0; };
  if (is(PyExc_MemoryError)) return 4;
  if (is(PyExc_NotImplementedError)) return 3;
  return is(PyExc_ValueError) ? value_error : 9;
}

}  // namespace

std::int32_t say_failure(const char* what, std::int32_t number, char* why, std::size_t bytes) noexcept {
  std::snprintf(why, bytes, "%s", what);
  return number;
}

std::int32_t keep_failure(nb::python_error& e, std::int32_t value_error, char* why, std::size_t bytes) {
  const nb::object exception = nb::borrow(e.value());
  std::string text = class_name(exception);
  try {
    const std::string words = nb::cast<std::string>(nb::str(exception));
    if (!words.empty()) text += ": " + words;
    if (e.traceback().is_valid()) module_of("traceback").attr("clear_frames")(e.traceback());
  } catch (nb::python_error&) {  // of its __str__; the class says enough
  }
  const std::int32_t number = number_of(exception, value_error);
  say_failure(text.c_str(), number, why, bytes);
  text.resize(std::min({text.size(), text.find('\n'), kCompared, bytes - 1}));
  if (kept().size() == kKept) {
    nb::steal(kept().front().exception).reset();
    kept().pop_front();
  }
  kept().push_back({std::move(text), exception.inc_ref().ptr()});
  return number;
}

nb::object cause_of(const std::string& message) {
  for (auto failure = kept().rbegin(); failure != kept().rend(); ++failure) {
    if (message.find(failure->text) == std::string::npos) continue;
    nb::object found = nb::steal(failure->exception);
    kept().erase(std::next(failure).base());
    return found;
  }
  return {};
}

}  // namespace tenfold::python
