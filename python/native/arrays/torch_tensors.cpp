#include "native/arrays/torch_tensors.h"

#include <dlfcn.h>

#include "native/arrays/arrays.h"

namespace tenfold::python {
namespace {

// Where an object of Python's holds this address; 0: nowhere. It looks at the object's own bytes alone.
std::size_t place_of(nb::handle object, const void* address) {
  const nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
  const auto bytes = nb::cast<std::size_t>(nb::object(type.attr("__basicsize__")));
  const auto* words = reinterpret_cast<void* const*>(object.ptr());
  for (std::size_t at = sizeof(PyObject) / sizeof(void*); (at + 1) * sizeof(void*) <= bytes; ++at)
    if (words[at] == address) return at * sizeof(void*);
  return 0;
}

const TensorFunctions* find_functions(nb::handle tensor) {
  void* const library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);  // it stays open
  if (library == nullptr) return nullptr;
  static TensorFunctions found;
  found.version = reinterpret_cast<decltype(found.version)>(dlsym(library, "_ZNK2at10TensorBase8_versionEv"));
  found.address = reinterpret_cast<decltype(found.address)>(dlsym(library, "aoti_torch_get_data_ptr"));
  if (nb::hasattr(tensor, "_cdata"))
    found.place = place_of(tensor, reinterpret_cast<void*>(nb::cast<std::uintptr_t>(nb::object(tensor.attr("_cdata")))));
  return found.version != nullptr && found.address != nullptr && found.place != 0 ? &found : nullptr;
}

}  // namespace

const TensorFunctions* tensor_functions(nb::handle tensor) {
  static const TensorFunctions* const found = find_functions(tensor);
  return found;
}

// Without the search for the name, which takes longer than the rest.
std::int64_t version_of(nb::handle tensor) {
  static PyObject* const descriptor = nb::object(module_of("torch").attr("Tensor").attr("_version")).release().ptr();  // for ever
  static const auto get = reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_get));
  const nb::object found = nb::steal(get(descriptor, tensor.ptr(), reinterpret_cast<PyObject*>(Py_TYPE(tensor.ptr()))));
  if (!found.is_valid()) throw nb::python_error();
  return PyLong_AsLongLong(found.ptr());
}

const std::byte* address_of(nb::handle tensor) {
  static PyObject* const name = PyUnicode_InternFromString("data_ptr");
  PyObject* arguments[] = {tensor.ptr()};
  const nb::object found = nb::steal(PyObject_VectorcallMethod(name, arguments, 1, nullptr));
  if (!found.is_valid()) throw nb::python_error();
  return static_cast<const std::byte*>(PyLong_AsVoidPtr(found.ptr()));
}

}  // namespace tenfold::python
