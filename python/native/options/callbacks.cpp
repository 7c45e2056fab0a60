#include "native/options/callbacks.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>

#include "native/arrays/arrays.h"
#include "native/errors.h"
#include "native/options/values.h"

namespace tenfold::python {
namespace {

nb::object text(std::string_view s) { return nb::steal(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace")); }

}  // namespace

Callbacks::Listed::Listed(Callbacks& all, LongCall& one) : callbacks(all), call(one) {
  const std::lock_guard lock(callbacks.mutex_);
  callbacks.calls_.push_back(&call);
}
Callbacks::Listed::~Listed() {
  const std::lock_guard lock(callbacks.mutex_);
  std::erase(callbacks.calls_, &call);
}

template <class Use>
auto Callbacks::with_call(const Use& use) const {
  const std::lock_guard lock(mutex_);   // until then the call stays listed
  LongCall* const own = LongCall::current();
  if (own && std::find(calls_.begin(), calls_.end(), own) != calls_.end()) return use(own);
  return use(calls_.empty() ? nullptr : calls_.back());
}

bool Callbacks::failed() const {
  return with_call([](const LongCall* call) { return call && call->failed(); });
}

void Callbacks::keep_exception() noexcept {
  const nb::object error = take_exception();
  const bool late = with_call([&](LongCall* call) { return call ? call->keep(error), false : true; });
  if (late) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr()), PyErr_WriteUnraisable(log_.get());
}

LogCallback Callbacks::log() {
  return [self = shared_from_this()](Severity severity, std::string_view line) {
    if (leaving()) return;
    const Locked locked;
    try {
      const nb::object words = text(python_words(line));
      if (self->log_)
        nb::borrow(self->log_.get())(name_of(severity), words);
      else
        nb::module_::import_("tenfold._log").attr("line")(static_cast<int>(severity), words);
    } catch (nb::python_error& e) {
      e.restore();
      self->keep_exception();
    }
  };
}

bool Callbacks::go_on(const Progress& progress) {
  if (failed() || ended() || interrupted()) return false;
  if (leaving() || !progress_) return true;
  const Locked locked;
  try {
    const nb::object answer = nb::borrow(progress_.get())(text(progress.phase), progress.done, progress.total);
    if (!answer.is_none() && !PyBool_Check(answer.ptr()))
      raise_type_error("progress() returns True, False or None, got " + class_name(answer));
    return answer.ptr() != Py_False;
  } catch (nb::python_error& e) {
    e.restore();
    keep_exception();
    return false;
  }
}

void Callbacks::watch(BuildConfig& config) {
  config.progress = [self = shared_from_this()](const Progress& progress) { return self->go_on(progress); };
}

std::function<int(const TacticQuestion&)> Callbacks::choose(nb::handle function) {
  return [self = shared_from_this(), held = hold(function)](const TacticQuestion& question) {
    if (self->failed()) return -1;
    const Locked locked;
    try {
      nb::list candidates;
      for (const TacticCandidate& c : question.candidates) candidates.append(nb::make_tuple(text(c.tactic), text(c.config), c.nanoseconds));
      const nb::object answer = nb::borrow(held.get())(text(question.node), text(question.problem), candidates);
      if (answer.is_none()) return -1;
      const long index = PyLong_AsLong(answer.ptr());
      if (index == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
      return static_cast<int>(index);
    } catch (nb::python_error& e) {
      e.restore();
      self->keep_exception();
      return -1;
    }
  };
}

std::function<void(std::string_view, std::string_view)> Callbacks::dump(nb::handle function) {
  return [self = shared_from_this(), held = hold(function)](std::string_view pass, std::string_view graph) {
    if (self->failed()) return;
    const Locked locked;
    try {
      nb::borrow(held.get())(text(pass), text(graph));
    } catch (nb::python_error& e) {
      e.restore();
      self->keep_exception();
    }
  };
}

std::function<std::optional<InputSet>(int)> Callbacks::sample(nb::handle source) {
  const bool calls = PyCallable_Check(source.ptr()) != 0;
  return [self = shared_from_this(), held = hold(source), calls](int index) -> std::optional<InputSet> {
    const Locked locked;
    try {
      const nb::object from = nb::borrow(held.get());
      if (!calls && index >= static_cast<int>(nb::len(from))) return {};
      const nb::object answer = calls ? from(index) : nb::object(from[index]);
      if (answer.is_none()) return {};
      InputSet set;
      take(answer, set);
      return set;
    } catch (nb::python_error& e) {
      e.restore();
      self->keep_exception();
    } catch (const WrongValue& wrong) {
      PyErr_SetString(PyExc_TypeError, ("a sample of the calibration is " + wrong.requested).c_str());
      self->keep_exception();
    }
    throw Error(ErrorKind::cancelled, "the calibration's data raised an exception");
  };
}

std::function<double(std::span<const OutputSet>, std::span<const OutputSet>)> Callbacks::measure(nb::handle function) {
  return [self = shared_from_this(), held = hold(function)](std::span<const OutputSet> reference, std::span<const OutputSet> candidate) {
    const Locked locked;
    try {
      const auto listed = [](std::span<const OutputSet> samples) {
        nb::list list;
        for (const OutputSet& one : samples) {
          nb::dict dict;
          for (const auto& [output, tensor] : one) dict[text(output)] = array_of(tensor);
          list.append(dict);
        }
        return list;
      };
      const nb::object answer = nb::borrow(held.get())(listed(reference), listed(candidate));
      const double error = PyFloat_AsDouble(answer.ptr());
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      return error;
    } catch (nb::python_error& e) {
      e.restore();
      self->keep_exception();
    }
    throw Error(ErrorKind::cancelled, "the metric raised an exception");
  };
}

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::verbose: return "verbose";
    case Severity::info: return "info";
    case Severity::warning: return "warning";
    case Severity::error: break;
  }
  return "error";
}

}  // namespace tenfold::python
