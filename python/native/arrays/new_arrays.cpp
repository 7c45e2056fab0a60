// Arrays that Tenfold makes: results in the memory of who made the inputs, tensors as arrays and back.
#include <nanobind/ndarray.h>

#include "native/arrays/array_types.h"
#include "native/arrays/torch_tensors.h"
#include "native/errors.h"
#include "native/python_state.h"
#include "tenfold/dlpack.h"

namespace tenfold::python {
namespace {

nb::object numpy_array(DType dtype, nb::object shape, void*& data) {
  static PyObject* empty = nb::object(module_of("numpy").attr("empty")).release().ptr();  // kept for ever
  const nb::object type = numpy_dtype(dtype);
  PyObject* arguments[] = {shape.ptr(), type.ptr()};
  nb::object made = nb::steal(PyObject_Vectorcall(empty, arguments, 2, nullptr));
  if (!made.is_valid()) throw nb::python_error();
  Py_buffer b;
  if (PyObject_GetBuffer(made.ptr(), &b, PyBUF_SIMPLE) == 0) {
    data = b.buf;
    PyBuffer_Release(&b);
  } else {  // a type that only ml_dtypes has
    PyErr_Clear();
    data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(nb::object(made.attr("ctypes").attr("data"))));
  }
  return made;
}

nb::object torch_array(DType dtype, nb::object shape, nb::handle like, void*& data) {
  static PyObject* const empty = nb::object(module_of("torch").attr("empty")).release().ptr();  // kept for ever, as the names are
  static PyObject* const names = nb::object(nb::make_tuple("dtype", "device")).release().ptr();
  static PyObject* const device = PyUnicode_InternFromString("device");
  const nb::object type = torch_dtype(dtype), where = nb::steal(PyObject_GetAttr(like.ptr(), device));
  if (!where.is_valid()) throw nb::python_error();
  PyObject* arguments[] = {shape.ptr(), type.ptr(), where.ptr()};
  nb::object made = nb::steal(PyObject_Vectorcall(empty, arguments, 1, names));
  if (!made.is_valid()) throw nb::python_error();
  data = const_cast<std::byte*>(address_of(made));
  return made;
}

}  // namespace

nb::object module_of(const char* name) { return nb::module_::import_(name); }

nb::object tuple_of(std::span<const std::int64_t> numbers) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  if (!tuple.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i]));
  return tuple;
}

std::string class_name(nb::handle object) {
  return nb::cast<std::string>(nb::object(nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__")));
}

nb::object new_array(Maker maker, nb::handle like, DType dtype, std::span<const std::int64_t> shape, void*& data) {
  if (maker == Maker::own) return device_array_like(like, dtype, shape, data);
  const nb::object extents = tuple_of(shape);
  if (maker == Maker::numpy) return numpy_array(dtype, extents, data);
  if (maker == Maker::torch) return torch_array(dtype, extents, like, data);
  nb::object made = module_of("cupy").attr("empty")(extents, nb::arg("dtype") = numpy_dtype(dtype));
  data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(nb::object(made.attr("data").attr("ptr"))));
  return made;
}

Tensor tensor_of(nb::handle array, const std::string& what) {
  if (is_packed_type(array)) return packed_tensor(array, what);
  ArrayView v;
  read_array(v, array, what);
  if (v.on_gpu()) raise_error(ErrorKind::invalid_argument, what + " lies on a GPU, the host's memory is wanted: copy it there");
  if (!v.dense || v.odd) {
    const nb::object copy = packed_copy(array, v.maker);
    read_array(v, copy, what);
  }
  return Tensor(v.dtype, Shape(v.extents().begin(), v.extents().end()), hold(v.owner), v.data);
}

nb::object array_over(void* data, bool writable, DType type, std::span<const std::int64_t> shape, nb::handle owner) {
  const nb::object dtype = numpy_dtype(type);
  std::size_t bytes = nb::cast<std::size_t>(nb::object(dtype.attr("itemsize")));
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  if (bytes == 0) return module_of("numpy").attr("empty")(tuple_of(shape), dtype);
  const nb::object flat = writable ? nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(data, 1, &bytes, owner))
                                   : nb::cast(nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(data, 1, &bytes, owner));
  return flat.attr("view")(dtype).attr("reshape")(tuple_of(shape));
}

nb::object array_of(const Tensor& t) {
  if (t.dtype() == DType::string) {
    nb::list values;
    for (const std::string& s : t.string_values()) values.append(nb::str(s.data(), s.size()));
    return module_of("numpy").attr("array")(values, nb::arg("dtype") = "object").attr("reshape")(tuple_of(t.shape()));
  }
  if (bits(t.dtype()) < 8) return unpacked_array(t);
  const nb::capsule owner(new Tensor(t), [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  return array_over(const_cast<void*>(t.raw()), false, t.dtype(), t.shape(), owner);
}

}  // namespace tenfold::python
