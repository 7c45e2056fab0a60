#include "native/arrays/exchange.h"

#include <utility>

#include "native/arrays/array_types.h"
#include "tenfold/dlpack.h"
#include "tenfold/error.h"

namespace tenfold::python {

// The layout that DLPack 1.3 fixes for all tables of major version 1.
struct ExchangeHeader {
  DLPackVersion version;
  const ExchangeHeader* previous;  // the table of an older major version; null: none
};
struct Exchange {
  ExchangeHeader header;
  void *allocate, *to_managed, *from_managed;
  int (*view)(void* object, DLTensor* to);  // may be null
  int (*current_stream)(DLDeviceType kind, std::int32_t device, void** stream);
};

namespace {

static_assert(sizeof(Exchange) == 56 && sizeof(ExchangeHeader) == 16);
constexpr const char* kCapsule = "dlpack_exchange_api";

const Exchange* table_of(PyTypeObject* type) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
  const nb::handle t(reinterpret_cast<PyObject*>(type));
  if (!nb::hasattr(t, "__dict__")) return nullptr;
  const nb::object own = t.attr("__dict__");
  if (PySequence_Contains(own.ptr(), name) != 1) return PyErr_Clear(), nullptr;
  const nb::object capsule = own[nb::handle(name)];
  if (!PyCapsule_IsValid(capsule.ptr(), kCapsule)) return nullptr;
  const auto* header = static_cast<const ExchangeHeader*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  while (header != nullptr && header->version.major != 1) header = header->previous;
  const auto* found = reinterpret_cast<const Exchange*>(header);
  return found != nullptr && found->view != nullptr && found->current_stream != nullptr ? found : nullptr;
}

// The types that were asked for last, with references of their own, so that no other takes their address.
struct Known {
  PyTypeObject* type = nullptr;
  const Exchange* exchange = nullptr;
  Maker maker = Maker::numpy;
};

Known known_of(nb::handle array) {
  static Known known[8];
  static std::size_t next = 0;
  PyTypeObject* const type = Py_TYPE(array.ptr());
  for (const Known& k : known)
    if (k.type == type) return k;
  const Known made{type, table_of(type), maker_of(array)};
  Known& oldest = known[next++ % std::size(known)];
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  const nb::object gone = nb::steal(reinterpret_cast<PyObject*>(std::exchange(oldest, made).type));
  return made;
}

bool known_type(DLDataType given, DType& type) {
  try {
    return type = type_of_dlpack(given), true;
  } catch (const Error&) {
    return false;
  }
}

// torch's alone: a view that it negates when it is read.
bool is_negated(nb::handle tensor) {
  static PyObject* const name = PyUnicode_InternFromString("is_neg");
  PyObject* arguments[] = {tensor.ptr()};
  const nb::object reported = nb::steal(PyObject_VectorcallMethod(name, arguments, 1, nullptr));
  if (!reported.is_valid()) throw nb::python_error();
  return reported.ptr() != Py_False;
}

}  // namespace

const Exchange* exchange_of(nb::handle array) { return known_of(array).exchange; }

bool read_exchange(ArrayView& v, nb::handle array, const Exchange& exchange) {
  DLTensor t{};
  if (exchange.view(array.ptr(), &t) != 0) return PyErr_Clear(), false;
  v.maker = known_of(array).maker;
  if (t.ndim < 0 || t.ndim > kMaxDims || (v.maker == Maker::torch && is_negated(array))) return false;
  v.device = t.device;
  if (t.device.device_type != kDLCPU && t.device.device_type != kDLCUDAHost && !v.on_gpu()) return false;
  if (!known_type(t.dtype, v.dtype)) return false;
  v.data = static_cast<std::byte*>(t.data) + (t.data != nullptr ? t.byte_offset : 0);
  v.rank = t.ndim;
  std::int64_t stride = 1;
  for (int d = t.ndim - 1; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    v.shape[i] = t.shape[d], v.strides[i] = t.strides != nullptr ? t.strides[d] : stride;
    stride *= t.shape[d];
  }
  v.owner = nb::borrow(array);
  return true;
}

std::int64_t exchange_stream(const Exchange& exchange, int device) {
  void* stream = nullptr;
  if (exchange.current_stream(kDLCUDA, device, &stream) != 0) throw nb::python_error();
  return reinterpret_cast<std::int64_t>(stream);
}

}  // namespace tenfold::python
