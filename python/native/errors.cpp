#include "native/errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "native/plugins/plugin_failures.h"
#include "tenfold/model_error.h"

namespace tenfold::python {
namespace {

PyObject* classes = nullptr;  // the dict from names of kinds to classes that tenfold/errors.py gives; kept for ever

nb::object class_of(const char* name) {
  PyObject* found = classes == nullptr ? nullptr : PyDict_GetItemString(classes, name);
  return nb::borrow(found == nullptr ? PyExc_RuntimeError : found);
}

// Messages quote names and paths, whose bytes may be no UTF-8.
nb::object words(const std::string& given) {
  const std::string message = python_words(given);
  return nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
}

void set(const char* name, const std::string& message, const std::string& step = "", nb::object problems = {}) {
  try {
    nb::object error = class_of(name)(words(message));
    if (!step.empty()) error.attr("step") = step;
    if (problems.is_valid()) {
      error.attr("problems") = problems;
      nb::object first = problems[0];
      for (const char* field : {"node", "op", "opset", "hint"}) nb::setattr(error, field, first.attr(field));
    }
    if (nb::object cause = cause_of(message); cause.is_valid()) {
      if (PyErr_GivenExceptionMatches(cause.ptr(), PyExc_Exception) == 0)
        error = cause;  // Ctrl-C, sys.exit()
      else
        PyException_SetCause(error.ptr(), cause.release().ptr());
    }
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (nb::python_error& e) {
    e.restore();
  }
}

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return "invalid_argument";
    case ErrorKind::invalid_model: return "invalid_model";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::out_of_memory: return "out_of_memory";
    case ErrorKind::plan_refused: return "plan_refused";
    case ErrorKind::io: return "io";
    case ErrorKind::device: return "device";
    case ErrorKind::cancelled: return "cancelled";
    case ErrorKind::internal: break;
  }
  return "internal";
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const ModelError& e) {
    nb::list problems;
    for (const ModelProblem& problem : e.problems()) problems.append(nb::cast(problem));
    set(kind_name(e.kind()), e.what(), "", problems);
  } catch (const Error& e) {
    set(kind_name(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    set(kind_name(ErrorKind::out_of_memory), "out of memory");
  } catch (const nb::python_error&) {
    throw;
  } catch (const nb::builtin_exception&) {
    throw;  // TypeError, StopIteration and the like, which nanobind knows
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "a value has another type than is expected there");
  } catch (const std::exception& e) {
    set(kind_name(ErrorKind::internal), std::string("an exception that is no error of Tenfold: ") + e.what());
  }
}

const char* status_class(Status::Code code) {
  switch (code) {
    case Status::out_of_memory: return "out_of_memory";
    case Status::cancelled: return "cancelled";
    case Status::deadline: return "deadline";
    case Status::device: return "device";
    case Status::bad_index: return "bad_index";
    case Status::invalid_input: return "invalid_input";
    case Status::failed: return "internal";
    default: return "invalid_argument";
  }
}

// "step 'conv1' (Conv): index out of range" names a step; what describe() says of bindings begins otherwise.
std::string step_of(const std::string& description) {
  if (!description.starts_with("step '")) return {};
  const std::size_t end = description.find('\'', 6);
  return end == std::string::npos ? std::string() : description.substr(6, end - 6);
}

}  // namespace

void set_error_of(const std::exception_ptr& thrown) noexcept {
  try {
    translate(thrown, nullptr);
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown exception");
  }
}

void raise_error(ErrorKind kind, const std::string& message, const std::string& step) {
  set(kind_name(kind), message, step);
  throw nb::python_error();
}

void raise_type_error(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

void raise_status(Status status, const std::string& description) {
  set(status_class(status.code), description, step_of(description));
  throw nb::python_error();
}

void bind_error(nb::module_& m) {
  nb::class_<ModelProblem>(m, "ModelProblem", "One thing that is wrong with a model.")
      .def_prop_ro("kind", [](const ModelProblem& p) { return kind_name(p.kind); })
      .def_ro("node", &ModelProblem::node)
      .def_ro("outputs", &ModelProblem::outputs)
      .def_ro("op", &ModelProblem::op)
      .def_ro("domain", &ModelProblem::domain)
      .def_ro("opset", &ModelProblem::opset)
      .def_ro("node_index", &ModelProblem::node_index, "In the file's graph, from 0: of the node, or of the outermost one around it.")
      .def_prop_ro("message", [](const ModelProblem& p) { return python_words(p.message); })
      .def_prop_ro("hint", [](const ModelProblem& p) { return python_words(p.hint); })
      .def("__str__", [](const ModelProblem& p) { return python_words(p.text()); });
  m.def("python_words", &python_words, nb::arg("text"), "A sentence of the library with Python's keywords in place of flags.");
  m.def("set_error_classes", [](nb::dict of_kind) { classes = of_kind.release().ptr(); });
  nb::register_exception_translator(translate);
}

}  // namespace tenfold::python
