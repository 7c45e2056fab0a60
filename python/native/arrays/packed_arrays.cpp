// Types of less than a byte, which ml_dtypes keeps in a byte each and Tenfold packs, low bits first: constants and attributes are copied.
#include "native/arrays/arrays.h"
#include "native/errors.h"

namespace tenfold::python {

bool is_packed_type(nb::handle array) {
  if (!PyObject_CheckBuffer(array.ptr()) || !nb::hasattr(array, "dtype") || !nb::hasattr(array, "view")) return false;
  const nb::object kind = array.attr("dtype");
  const std::string name = nb::cast<std::string>(nb::str(nb::object(kind)));
  return name == "int4" || name == "uint4" || name == "int2" || name == "uint2" || name == "float4_e2m1fn";
}

Tensor packed_tensor(nb::handle array, const std::string& what) {
  const DType dtype = dtype_of(nb::object(array.attr("dtype")), what);
  ArrayView bytes;
  const nb::object dense = module_of("numpy").attr("ascontiguousarray")(array).attr("view")("uint8").attr("reshape")(array.attr("shape"));
  read_array(bytes, dense, what);
  Tensor made(dtype, Shape(bytes.extents().begin(), bytes.extents().end()));
  auto* to = static_cast<std::uint8_t*>(const_cast<void*>(made.raw()));
  const auto* from = static_cast<const std::uint8_t*>(bytes.data);
  const int width = bits(dtype), in_byte = 8 / width;
  for (std::int64_t i = 0; i < bytes.elements; ++i) {
    const int at = static_cast<int>(i % in_byte) * width;
    const int value = (from[i] & ((1 << width) - 1)) << at;
    to[i / in_byte] = static_cast<std::uint8_t>(at == 0 ? value : to[i / in_byte] | value);
  }
  return made;
}

nb::object unpacked_array(const Tensor& tensor) {
  nb::object type;
  try {
    type = nb::module_::import_("ml_dtypes").attr(numpy_name(tensor.dtype()).c_str());
  } catch (nb::python_error&) {
    raise_error(ErrorKind::unsupported, "an array of " + std::string(name(tensor.dtype())) + " needs the package ml_dtypes");
  }
  const nb::object made = module_of("numpy").attr("empty")(tuple_of(tensor.shape()), "uint8");
  ArrayView bytes;
  read_array(bytes, made, "an array");
  auto* to = static_cast<std::uint8_t*>(bytes.data);
  const auto* from = static_cast<const std::uint8_t*>(tensor.raw());
  const int width = bits(tensor.dtype()), in_byte = 8 / width;
  const bool negative = tensor.dtype() == DType::i4 || tensor.dtype() == DType::i2;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const int value = from[i / in_byte] >> (static_cast<int>(i % in_byte) * width) & ((1 << width) - 1), sign = 1 << (width - 1);
    to[i] = static_cast<std::uint8_t>(negative ? (value ^ sign) - sign : value);
  }
  return made.attr("view")(type);
}

}  // namespace tenfold::python
