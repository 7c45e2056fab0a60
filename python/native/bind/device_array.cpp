// tenfold/device_array.h: memory of one's own on a device, as NumPy, torch, CuPy and DLPack's consumers see it.
#include "tenfold/device_array.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "native/arrays/array_types.h"
#include "native/call/bound_context.h"
#include "native/errors.h"
#include "native/options/values.h"
#include "native/python_state.h"
#include "tenfold/dlpack.h"

namespace tenfold::python {
namespace {

const std::string kWhat = "the array";

nb::object made(const std::string& device, DType dtype, Shape shape) {
  DeviceArray array;
  {
    const Unlocked unlocked;
    array = DeviceArray(device, dtype, std::move(shape));
  }
  return nb::cast(std::move(array));
}

std::string device_name(nb::handle device) {
  if (PyUnicode_Check(device.ptr())) return nb::cast<std::string>(device);
  if (!device.is_none()) raise_type_error("device is a name ('cpu', 'cuda', 'cuda:1') or None, got " + class_name(device));
  return nb::cast<std::string>(module_of("tenfold._device").attr("default_device")());
}

Shape extents_of(nb::handle shape) {
  if (PyIndex_Check(shape.ptr())) return {number_of(shape)};
  try {
    return shape_of(shape);
  } catch (const WrongValue&) {
    raise_type_error("a shape is a whole number or a sequence of them, got " + class_name(shape));
  }
}

void init(DeviceArray* self, nb::handle shape, nb::handle dtype, nb::handle device) {
  const std::string where = device_name(device);
  const DType type = dtype_of(dtype, "dtype");
  Shape extents = extents_of(shape);
  const Unlocked unlocked;
  new (self) DeviceArray(where, type, std::move(extents));
}

void* stream_handle(nb::handle stream) { return stream_of(stream).handle(); }

// An array of the same type and shape; on a GPU, behind what its maker has enqueued there.
void copy_from(DeviceArray& a, nb::handle array, nb::handle stream) {
  ArrayView v;
  read_array(v, array, kWhat);
  if (v.dtype != a.dtype())
    raise_error(ErrorKind::invalid_argument, "the DeviceArray is " + numpy_name(a.dtype()) + ", an array of " + numpy_name(v.dtype) +
                                                 " is given; nothing is converted in silence: array.astype(\"" + numpy_name(a.dtype()) +
                                                 "\")");
  if (!std::equal(v.extents().begin(), v.extents().end(), a.shape().begin(), a.shape().end()))
    raise_error(ErrorKind::invalid_argument,
                "the DeviceArray has the shape [" + text(a.shape()) + "], an array of [" + text(v.extents()) + "] is given");
  if (!v.dense || v.odd) {
    const Maker maker = v.maker;
    const nb::object copy = packed_copy(array, maker);
    read_array(v, copy, kWhat);
    v.maker = maker;
  }
  const StreamChoice given = stream_of(stream), on = given.given ? given : current_stream(v);
  if (v.on_gpu() && !a.on_gpu()) {
    if (v.maker != Maker::own)
      raise_error(ErrorKind::invalid_argument, "the array lies on a GPU, the DeviceArray on the host: copy it there");
    const DeviceArray& from = nb::cast<const DeviceArray&>(array);
    const Unlocked unlocked;
    return from.copy_to(a.memory(), a.bytes(), on.handle());
  }
  const Unlocked unlocked;
  a.copy_from(v.data, a.bytes(), on.handle());
}

nb::object to_numpy(const DeviceArray& a, nb::handle stream) {
  void* data = nullptr;
  nb::object array = new_array(Maker::numpy, {}, a.dtype(), a.shape(), data);
  void* const handle = stream_handle(stream);
  const Unlocked unlocked;
  a.copy_to(data, a.bytes(), handle);
  return array;
}

nb::object of(nb::handle array, nb::handle device) {
  ArrayView v;
  read_array(v, array, kWhat);
  const bool stays = device.is_none() && v.on_gpu();
  const std::string where = stays ? "cuda:" + std::to_string(v.device.device_id) : device_name(device);
  nb::object copy = made(where, v.dtype, Shape(v.extents().begin(), v.extents().end()));
  copy_from(nb::cast<DeviceArray&>(copy), array, nb::none());
  return copy;
}

// What np.asarray() asks for where the buffer protocol does not do: types of ml_dtypes, and a GPU's memory.
nb::object as_numpy(nb::handle self, nb::handle dtype, nb::handle copy) {
  const DeviceArray& a = nb::cast<const DeviceArray&>(self);
  if (a.on_gpu()) raise_type_error("the array lies on " + a.device() + ", where NumPy cannot read: array.numpy() makes a copy on the host");
  nb::object array = array_over(a.memory(), true, a.dtype(), a.shape(), self);
  if (!dtype.is_none()) array = array.attr("astype")(dtype, nb::arg("copy") = false);
  return copy.ptr() == Py_True ? array.attr("copy")() : array;
}

nb::object cuda_interface(const DeviceArray& a) {
  if (!a.on_gpu()) throw nb::attribute_error("the array lies in the host's memory");
  const nb::object type = numpy_dtype(a.dtype());
  nb::dict reported;
  reported["shape"] = tuple_of(a.shape());
  reported["typestr"] = type.attr("str");
  reported["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(a.memory()), false);
  reported["strides"] = nb::none();
  reported["version"] = 3;
  return reported;
}

template <class Managed>
nb::object capsule_of(Managed* managed, const char* name) {
  const auto drop = [](PyObject* capsule) {   // of one that nobody has taken
    const char* unused = sizeof(Managed) == sizeof(DLManagedTensor) ? "dltensor" : "dltensor_versioned";
    if (!PyCapsule_IsValid(capsule, unused)) return;
    auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, unused));
    m->deleter(m);
  };
  nb::object capsule = nb::steal(PyCapsule_New(managed, name, drop));
  if (capsule.is_valid()) return capsule;
  managed->deleter(managed);
  throw nb::python_error();
}

nb::object dlpack_device(const DeviceArray& a) { return nb::make_tuple(a.on_gpu() ? int{kDLCUDA} : int{kDLCPU}, a.ordinal()); }

[[noreturn]] void raise_buffer_error(const std::string& message) {
  PyErr_SetString(PyExc_BufferError, message.c_str());
  throw nb::python_error();
}

// What lies there is complete, but for runs that the caller has enqueued and not waited for: `stream` has nothing to wait for.
nb::object dlpack(const DeviceArray& a, nb::handle, nb::handle max_version, nb::handle device, nb::handle copy) {
  if (copy.ptr() == Py_True) raise_buffer_error("a DeviceArray gives its memory by DLPack, and makes no copy: copy=True is refused");
  if (!device.is_none() && !device.equal(dlpack_device(a)))
    raise_buffer_error("the array lies on " + a.device() + ", DLPack's consumer wants it on device " +
                       nb::cast<std::string>(nb::repr(device)) + ": numpy(), or DeviceArray.of(array, device=...), copies");
  const bool versioned = !max_version.is_none() && nb::cast<int>(nb::object(max_version[0])) >= 1;
  return versioned ? capsule_of(to_dlpack(a), "dltensor_versioned") : capsule_of(to_dlpack_unversioned(a), "dltensor");
}

std::string words(const DeviceArray& a) {
  return "<tenfold.DeviceArray " + numpy_name(a.dtype()) + "[" + text(a.shape()) + "] on " + a.device() + ">";
}

// The buffer protocol, in the host's memory.
struct BufferNumbers {
  DeviceArray array;
  std::vector<Py_ssize_t> shape, strides;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const DeviceArray& a = *nb::inst_ptr<DeviceArray>(self);
  const char* format = nb::inst_ready(self) && !a.on_gpu() ? buffer_format(a.dtype()) : nullptr;
  if (format == nullptr) return PyErr_SetString(PyExc_BufferError, "memory of a GPU, or of a type that buffers do not have"), -1;
  auto numbers = std::make_unique<BufferNumbers>(BufferNumbers{a, {a.shape().begin(), a.shape().end()}, {}});
  const Py_ssize_t width = bits(a.dtype()) / 8;
  numbers->strides.resize(numbers->shape.size());
  Py_ssize_t stride = width;
  for (std::size_t d = numbers->shape.size(); d-- > 0; stride *= numbers->shape[d]) numbers->strides[d] = stride;
  view->buf = a.memory(), view->len = a.bytes(), view->itemsize = width, view->readonly = 0;
  const auto requested = [flags](int what) { return (flags & what) == what; };
  view->format = requested(PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(numbers->shape.size());
  view->shape = requested(PyBUF_ND) ? numbers->shape.data() : nullptr;
  view->strides = requested(PyBUF_STRIDES) ? numbers->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = numbers.release();
  Py_INCREF(self);
  view->obj = self;
  return 0;
}
void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<BufferNumbers*>(view->internal); }

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                       {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                       {0, nullptr}};

}  // namespace

bool read_device_array(ArrayView& v, nb::handle array) {
  static const nb::handle type = nb::type<DeviceArray>();
  if (reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())) != type.ptr() || !nb::inst_ready(array)) return false;
  const DeviceArray& a = *nb::inst_ptr<DeviceArray>(array);
  if (a.shape().size() > static_cast<std::size_t>(kMaxDims)) return false;
  v.owner = nb::borrow(array);
  v.data = a.memory(), v.dtype = a.dtype(), v.rank = static_cast<int>(a.shape().size());
  std::int64_t stride = 1;
  for (std::size_t d = a.shape().size(); d-- > 0; stride *= a.shape()[d]) v.shape[d] = a.shape()[d], v.strides[d] = stride;
  v.device = {a.on_gpu() ? kDLCUDA : kDLCPU, a.ordinal()};
  v.maker = Maker::own;
  return true;
}

nb::object device_array_like(nb::handle other, DType dtype, std::span<const std::int64_t> shape, void*& data) {
  nb::object array = made(nb::cast<const DeviceArray&>(other).device(), dtype, Shape(shape.begin(), shape.end()));
  data = nb::cast<DeviceArray&>(array).memory();
  return array;
}

nb::object device_array_of(nb::handle numpy, nb::handle like) {
  return of(numpy, nb::str(nb::cast<const DeviceArray&>(like).device().c_str()));
}

void bind_device_array(nb::module_& m) {
  nb::class_<DeviceArray>(m, "DeviceArray",
                          "Memory of one's own on a device, dense, zeros at first. Engines read and write it where it lies: as an input, "
                          "in bind() and out=; results are DeviceArrays where an input is.",
                          nb::type_slots(slots))
      .def("__init__", &init, nb::arg("shape"), nb::arg("dtype") = "float32", nb::arg("device") = nb::none(),
           nb::sig("def __init__(self, shape: int | Sequence[int], dtype: Any = 'float32', device: str | None = None) -> None"),
           "device: 'cpu', 'cuda', 'cuda:1'; None: TENFOLD_DEVICE, else the first GPU, else the CPU.")
      .def_static("of", &of, nb::arg("array"), nb::arg("device") = nb::none(),
                  nb::sig("def of(array: Any, device: str | None = None) -> DeviceArray"), "A copy of any array, on a device.")
      .def("copy_from", &copy_from, nb::arg("array"), nb::arg("stream") = nb::none(),
           nb::sig("def copy_from(self, array: Any, stream: Any = None) -> None"),
           "Takes the elements of an array of the same shape and type; done when it returns. stream: one behind whose work this comes.")
      .def("numpy", &to_numpy, nb::arg("stream") = nb::none(), nb::sig("def numpy(self, stream: Any = None) -> Any"),
           "A copy as NumPy's array. stream: one behind whose work this comes.")
      .def_prop_ro("shape", [](const DeviceArray& a) { return tuple_of(a.shape()); }, nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("dtype", [](const DeviceArray& a) { return numpy_dtype(a.dtype()); }, nb::sig("def dtype(self) -> Any"), "NumPy's.")
      .def_prop_ro("device", &DeviceArray::device, "'cpu', 'cuda:0'.")
      .def_prop_ro("nbytes", &DeviceArray::bytes)
      .def_prop_ro("size", [](const DeviceArray& a) { return element_count(a.shape()); }, "Elements.")
      .def_prop_ro("ndim", [](const DeviceArray& a) { return a.shape().size(); })
      .def_prop_ro("address", [](const DeviceArray& a) { return reinterpret_cast<std::uintptr_t>(a.memory()); }, "On the device.")
      .def_prop_ro("__cuda_array_interface__", &cuda_interface, nb::sig("def __cuda_array_interface__(self) -> dict[str, Any]"))
      .def("__array__", &as_numpy, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any"))
      .def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
           nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: Any = None, "
                   "copy: bool | None = None) -> Any"))
      .def("__dlpack_device__", &dlpack_device, nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__len__",
           [](const DeviceArray& a) {
             if (a.shape().empty()) raise_type_error("an array without axes has no length");
             return a.shape()[0];
           })
      .def("__repr__", &words);
}

}  // namespace tenfold::python
