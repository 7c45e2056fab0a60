// Reading arrays. NumPy's come by the buffer protocol, torch's by DLPack's table of C functions or by their attributes, which is
// quickest; all others by DLPack or __cuda_array_interface__.
#include "native/arrays/arrays.h"

#include <cstring>

#include "native/arrays/array_types.h"
#include "native/arrays/exchange.h"
#include "native/arrays/torch_arrays.h"
#include "native/errors.h"
#include "tenfold/dlpack.h"

namespace tenfold::python {
namespace {

// Without a call of Python. False: there is no such way, or work on another stream is to be waited for.
bool read_where_it_lies(ArrayView& v, nb::handle array, std::int64_t stream) {
  if (PyObject_CheckBuffer(array.ptr())) return false;   // NumPy's, which are quick
  const Exchange* exchange = exchange_of(array);
  if (exchange == nullptr || !read_exchange(v, array, *exchange)) return v.clear(), false;
  if (!v.on_gpu() || stream == kNoStream || stream == as_dlpack(exchange_stream(*exchange, v.device.device_id))) return true;
  return v.clear(), false;
}

// Dense and odd, from shape, strides and address.
void finish_view(ArrayView& v) {
  std::int64_t expected = 1;
  v.elements = element_count(v.extents());
  v.dense = true;
  for (int d = v.rank - 1; d >= 0; --d) {
    const std::int64_t extent = v.shape[static_cast<std::size_t>(d)], stride = v.strides[static_cast<std::size_t>(d)];
    if (extent == 0) return static_cast<void>(v.dense = true);
    if (extent != 1 && stride != expected) v.dense = false;
    if (extent != 1 && stride < 0) v.odd = true;
    expected *= extent;
  }
  const int width = bits(v.dtype) / 8;
  if (width > 1 && reinterpret_cast<std::uintptr_t>(v.data) % static_cast<std::uintptr_t>(width) != 0) v.odd = true;
}

void check_rank(std::int64_t rank, const std::string& what) {
  if (rank > kMaxDims) raise_error(ErrorKind::invalid_argument, what + " has " + std::to_string(rank) + " dims, at most 64 are possible");
}

// False: the object has no buffer, or one whose elements no format describes (ml_dtypes).
bool read_buffer(ArrayView& v, nb::handle array, const std::string& what) {
  Py_buffer b;
  if (PyObject_GetBuffer(array.ptr(), &b, PyBUF_FORMAT | PyBUF_STRIDES) != 0) return PyErr_Clear(), false;
  const struct Release {
    Py_buffer* b;
    ~Release() { PyBuffer_Release(b); }
  } release{&b};
  v.dtype = dtype_of_format(b.format == nullptr ? "B" : b.format, b.itemsize, what);
  check_rank(b.ndim, what);
  v.data = b.buf, v.rank = b.ndim, v.read_only = b.readonly != 0;
  for (int d = 0; d < b.ndim; ++d) {
    const auto i = static_cast<std::size_t>(d);
    v.shape[i] = b.shape[d], v.strides[i] = b.strides[d] / b.itemsize;
    if (b.strides[d] % b.itemsize != 0 && b.shape[d] > 1) v.odd = true;
  }
  v.owner = nb::borrow(array);  // NumPy leaves memory that others refer to where it is
  finish_view(v);
  return true;
}

// NumPy's arrays of types that only ml_dtypes has: the same bytes under a type that a buffer can tell.
bool read_ml_dtypes(ArrayView& v, nb::handle array, const std::string& what) {
  if (!nb::hasattr(array, "dtype") || !nb::hasattr(array, "view") || !nb::hasattr(array, "__array_interface__")) return false;
  const DType dtype = dtype_of(array.attr("dtype"), what);
  const int width = bits(dtype);
  if (width < 8)
    raise_error(ErrorKind::unsupported, what + " holds " + numpy_name(dtype) +
                                            ", which NumPy keeps a byte each and Tenfold packs: give it as a wider type (input_formats)");
  nb::object bytes = array.attr("view")(width == 8 ? "uint8" : width == 16 ? "uint16" : width == 32 ? "uint32" : "uint64");
  if (!read_buffer(v, bytes, what)) return false;
  v.dtype = dtype;
  return true;
}

template <class Managed>
struct Taken {
  Managed* managed;
  static void drop(void* p) noexcept {
    auto* managed = static_cast<Managed*>(p);
    if (managed->deleter) managed->deleter(managed);
  }
};

template <class Managed>
bool take_capsule(ArrayView& v, nb::handle capsule, const char* name, const char* used, const std::string& what) {
  if (!PyCapsule_IsValid(capsule.ptr(), name)) return false;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  PyCapsule_SetName(capsule.ptr(), used);
  PyCapsule_SetDestructor(capsule.ptr(), nullptr);
  v.owner = nb::capsule(managed, &Taken<Managed>::drop);
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    if (managed->version.major != DLPACK_MAJOR_VERSION)
      raise_error(ErrorKind::invalid_argument, what + " comes by DLPack " + std::to_string(managed->version.major) + ", 1 is understood");
    v.read_only = (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  }
  const DLTensor& t = managed->dl_tensor;
  check_rank(t.ndim, what);
  v.dtype = type_of_dlpack(t.dtype);
  v.data = static_cast<std::byte*>(t.data) + t.byte_offset, v.rank = t.ndim, v.device = t.device;
  std::int64_t stride = 1;
  for (int d = t.ndim - 1; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    v.shape[i] = t.shape[d], v.strides[i] = t.strides ? t.strides[d] : stride;
    stride *= t.shape[d];
  }
  return true;
}

nb::object call_dlpack(nb::handle array, nb::object stream) {
  const nb::object dlpack = array.attr("__dlpack__");
  try {
    return dlpack(nb::arg("stream") = stream, nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;  // one from before the versions
  }
  return stream.is_none() ? dlpack() : dlpack(nb::arg("stream") = stream);
}

bool read_dlpack(ArrayView& v, nb::handle array, const std::string& what, std::int64_t stream) {
  if (!nb::hasattr(array, "__dlpack__")) return false;
  nb::object exporter = nb::borrow(array), on = nb::none();
  v.maker = maker_of(array);
  if (v.maker == Maker::torch && nb::cast<bool>(array.attr("requires_grad"))) exporter = array.attr("detach")();
  if (v.maker == Maker::torch && nb::cast<bool>(array.attr("is_neg")()))   // DLPack would give the numbers before their signs changed
    raise_error(ErrorKind::invalid_argument, what + " is a view that torch negates when it is read (is_neg()): give resolve_neg() of it");
  if (nb::hasattr(array, "__dlpack_device__")) {
    const nb::object device = array.attr("__dlpack_device__")();
    const int kind = nb::cast<int>(nb::object(nb::int_(nb::object(device[0]))));
    if (kind == kDLCUDA || kind == kDLCUDAManaged)
      on = nb::int_(stream);
    else if (kind != kDLCPU && kind != kDLCUDAHost)
      raise_error(ErrorKind::invalid_argument, what + " lies on a device of kind " + std::to_string(kind) +
                                                   " (as DLPack counts them), where no engine of Tenfold runs: copy it to the host");
  }
  const nb::object capsule = call_dlpack(exporter, on);
  if (!take_capsule<DLManagedTensorVersioned>(v, capsule, "dltensor_versioned", "used_dltensor_versioned", what) &&
      !take_capsule<DLManagedTensor>(v, capsule, "dltensor", "used_dltensor", what))
    raise_type_error(what + ": __dlpack__() of " + class_name(array) + " gave no capsule of DLPack");
  finish_view(v);
  return true;
}

// numba's device arrays and others that know CUDA alone. Work on the producer's stream is waited for by who enqueues behind it.
bool read_cuda_interface(ArrayView& v, nb::handle array, const std::string& what) {
  if (!nb::hasattr(array, "__cuda_array_interface__")) return false;
  const nb::object reported = array.attr("__cuda_array_interface__");
  const nb::object shape = reported["shape"], data = reported["data"];
  v.dtype = dtype_of(nb::object(reported["typestr"]), what);
  v.rank = static_cast<int>(nb::len(shape));
  check_rank(v.rank, what);
  v.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(nb::object(data[0])));
  v.read_only = nb::cast<bool>(nb::object(data[1]));
  v.device = {kDLCUDA, 0};
  const std::int64_t width = std::max(bits(v.dtype) / 8, 1);
  nb::object strides = reported.attr("get")("strides");
  std::int64_t stride = 1;
  for (int d = v.rank - 1; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    v.shape[i] = nb::cast<std::int64_t>(nb::object(shape[d]));
    v.strides[i] = strides.is_none() ? stride : nb::cast<std::int64_t>(nb::object(strides[d])) / width;
    stride *= v.shape[i];
  }
  v.owner = nb::borrow(array);
  finish_view(v);
  return true;
}

}  // namespace

std::int64_t ArrayView::reach() const {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) {
    if (shape[d] == 0) return 0;
    last += (shape[d] - 1) * strides[d];
  }
  return dense ? byte_size(dtype, elements) : byte_size(dtype, last + 1);
}

void read_array(ArrayView& v, nb::handle array, const std::string& what, std::int64_t stream, bool brief) {
  v.clear();
  if (read_device_array(v, array) || (brief && read_where_it_lies(v, array, stream))) return finish_view(v);
  if (PyObject_CheckBuffer(array.ptr()) && (read_buffer(v, array, what) || read_ml_dtypes(v, array, what))) return;
  if (is_plain_tensor(array) && read_torch(v, array, stream)) return finish_view(v);
  v.clear();
  if (read_dlpack(v, array, what, stream) || read_cuda_interface(v, array, what)) return;
  raise_type_error(what + " is an array (NumPy, torch, CuPy, or any object with __dlpack__ or __cuda_array_interface__), got " +
                   class_name(array));
}

nb::object packed_copy(nb::handle array, Maker maker) {
  switch (maker) {
    case Maker::torch: return array.attr("detach")().attr("contiguous")();
    case Maker::cupy: return module_of("cupy").attr("ascontiguousarray")(array);
    case Maker::own:
    case Maker::numpy: break;
  }
  return module_of("numpy").attr("array")(array, nb::arg("order") = "C", nb::arg("copy") = true);
}

}  // namespace tenfold::python
