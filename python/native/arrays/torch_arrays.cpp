#include "native/arrays/torch_arrays.h"

#include "native/arrays/array_types.h"

namespace tenfold::python {
namespace {

// What is asked of torch: looked up once, kept for ever.
struct Torch {
  PyObject *tensor, *parameter, *strided, *raw_stream;   // raw_stream: null where torch has no CUDA
};

PyObject* forever(nb::object object) { return object.release().ptr(); }

const Torch* torch() {
  static const Torch* found = nullptr;
  if (found != nullptr) return found;
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  if (module == nullptr || !nb::hasattr(module, "Tensor") || !nb::hasattr(module, "nn") || !nb::hasattr(module, "strided"))
    return nullptr;   // while it is being imported, too
  const nb::handle t = module;
  const nb::object own = t.attr("_C");
  found = new Torch{forever(t.attr("Tensor")), forever(t.attr("nn").attr("Parameter")), forever(t.attr("strided")),
                    nb::hasattr(own, "_cuda_getCurrentRawStream") ? forever(own.attr("_cuda_getCurrentRawStream")) : nullptr};
  return found;
}

// A name as Python keeps it, so that no string is made for each question.
struct Name {
  PyObject* text;
  explicit Name(const char* name) : text(PyUnicode_InternFromString(name)) {}
};

nb::object get(nb::handle object, const Name& name) {
  nb::object found = nb::steal(PyObject_GetAttr(object.ptr(), name.text));
  if (!found.is_valid()) throw nb::python_error();
  return found;
}

nb::object call(nb::handle object, const Name& method) {
  PyObject* arguments[] = {object.ptr()};
  nb::object found = nb::steal(PyObject_VectorcallMethod(method.text, arguments, 1, nullptr));
  if (!found.is_valid()) throw nb::python_error();
  return found;
}

// False: a type that is not ours.
bool dtype_of_torch(nb::handle dtype, DType& type) {
  static PyObject* known[static_cast<int>(DType::count_)] = {};
  static const bool once = [] {
    for (int t = 0; t < static_cast<int>(DType::count_); ++t)
      if (has_torch_dtype(static_cast<DType>(t))) known[t] = forever(torch_dtype(static_cast<DType>(t)));
    return true;
  }();
  static_cast<void>(once);
  for (int t = 0; t < static_cast<int>(DType::count_); ++t)
    if (known[t] == dtype.ptr()) return type = static_cast<DType>(t), true;
  return false;
}

void read_numbers(nb::handle tuple, std::array<std::int64_t, kMaxDims>& to, int rank) {
  for (int d = 0; d < rank; ++d) {
    nb::object number = nb::steal(PySequence_GetItem(tuple.ptr(), d));
    if (!number.is_valid()) throw nb::python_error();
    to[static_cast<std::size_t>(d)] = PyLong_AsLongLong(number.ptr());
  }
}

}  // namespace

bool is_plain_tensor(nb::handle array) {
  const Torch* t = torch();
  if (t == nullptr) return false;
  const auto* type = reinterpret_cast<PyObject*>(Py_TYPE(array.ptr()));
  if (type != t->tensor && type != t->parameter) return false;
  static const Name layout("layout"), is_neg("is_neg"), is_cpu("is_cpu"), is_cuda("is_cuda");
  return get(array, layout).ptr() == t->strided && call(array, is_neg).ptr() == Py_False &&
         (get(array, is_cuda).ptr() == Py_True || get(array, is_cpu).ptr() == Py_True);
}

void read_torch_device(ArrayView& v, nb::handle tensor) {
  static const Name is_cuda("is_cuda"), get_device("get_device");
  v.maker = Maker::torch;
  v.device = {kDLCPU, 0};
  if (get(tensor, is_cuda).ptr() == Py_True) v.device = {kDLCUDA, static_cast<std::int32_t>(PyLong_AsLong(call(tensor, get_device).ptr()))};
}

std::int64_t torch_stream(int device) {
  const Torch* t = torch();
  if (t != nullptr && t->raw_stream != nullptr) return nb::cast<std::int64_t>(nb::object(nb::handle(t->raw_stream)(device)));
  return nb::cast<std::int64_t>(nb::object(module_of("torch").attr("cuda").attr("current_stream")(device).attr("cuda_stream")));
}

bool read_torch(ArrayView& v, nb::handle tensor, std::int64_t stream) {
  static const Name dtype("dtype"), shape("shape"), stride("stride"), data_ptr("data_ptr"), storage("untyped_storage");
  read_torch_device(v, tensor);
  if (v.on_gpu() && stream != kNoStream && stream != as_dlpack(torch_stream(v.device.device_id))) return false;
  const nb::object extents = get(tensor, shape);
  const Py_ssize_t rank = PyObject_Size(extents.ptr());
  if (rank < 0 || rank > kMaxDims || !dtype_of_torch(get(tensor, dtype), v.dtype)) return PyErr_Clear(), false;
  v.rank = static_cast<int>(rank);
  read_numbers(extents, v.shape, v.rank);
  read_numbers(call(tensor, stride), v.strides, v.rank);
  v.data = PyLong_AsVoidPtr(call(tensor, data_ptr).ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  v.owner = call(tensor, storage);
  return true;
}

}  // namespace tenfold::python
