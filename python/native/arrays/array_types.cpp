#include "native/arrays/array_types.h"

#include <cstring>
#include <mutex>

#include "native/errors.h"

namespace tenfold::python {
namespace {

struct TypeName {
  DType type;
  const char *numpy, *torch;
};
constexpr TypeName kNames[] = {
    {DType::f32, "float32", "float32"},
    {DType::f64, "float64", "float64"},
    {DType::f16, "float16", "float16"},
    {DType::bf16, "bfloat16", "bfloat16"},
    {DType::i64, "int64", "int64"},
    {DType::i32, "int32", "int32"},
    {DType::i16, "int16", "int16"},
    {DType::i8, "int8", "int8"},
    {DType::u64, "uint64", "uint64"},
    {DType::u32, "uint32", "uint32"},
    {DType::u16, "uint16", "uint16"},
    {DType::u8, "uint8", "uint8"},
    {DType::i4, "int4", ""},
    {DType::u4, "uint4", ""},
    {DType::i2, "int2", ""},
    {DType::u2, "uint2", ""},
    {DType::boolean, "bool", "bool"},
    {DType::f8e4m3fn, "float8_e4m3fn", "float8_e4m3fn"},
    {DType::f8e4m3fnuz, "float8_e4m3fnuz", "float8_e4m3fnuz"},
    {DType::f8e5m2, "float8_e5m2", "float8_e5m2"},
    {DType::f8e5m2fnuz, "float8_e5m2fnuz", "float8_e5m2fnuz"},
    {DType::f8e8m0, "float8_e8m0fnu", "float8_e8m0fnu"},
    {DType::f4e2m1, "float4_e2m1fn", ""},
};

const TypeName* named(DType type) {
  for (const TypeName& n : kNames)
    if (n.type == type) return &n;
  return nullptr;
}

constexpr char kSigned[] = "bhilq", kUnsigned[] = "BHILQ";

DType integer(bool is_signed, std::int64_t bytes) {
  switch (bytes) {
    case 1: return is_signed ? DType::i8 : DType::u8;
    case 2: return is_signed ? DType::i16 : DType::u16;
    case 4: return is_signed ? DType::i32 : DType::u32;
    default: return is_signed ? DType::i64 : DType::u64;
  }
}

}  // namespace

DType dtype_of_format(const char* format, std::int64_t item_size, const std::string& what) {
  if (*format == '>' || *format == '!')
    raise_error(ErrorKind::invalid_argument, what + " has the other byte order (format \"" + std::string(format) +
                                                 "\"), the machine's is wanted: array.astype(array.dtype.newbyteorder(\"=\"))");
  const char* code = format + (*format == '@' || *format == '=' || *format == '<' ? 1 : 0);
  if (code[0] != '\0' && code[1] == '\0') {
    switch (*code) {
      case 'f': return DType::f32;
      case 'd': return DType::f64;
      case 'e': return DType::f16;
      case '?': return DType::boolean;
      case 'O':
        raise_type_error(what + " is an array of Python objects, and no tensor of an engine holds those, or strings: give it a type of " +
                         "numbers (array.astype(...))");
      default: break;
    }
    if (std::strchr(kSigned, *code) != nullptr) return integer(true, item_size);
    if (std::strchr(kUnsigned, *code) != nullptr) return integer(false, item_size);
  }
  if (std::strpbrk(code, "swc") != nullptr)
    raise_type_error(what + " is an array of strings, and no tensor of an engine holds those: turn them into numbers before");
  raise_type_error(what + " has elements of the format \"" + std::string(format) + "\", which no tensor of Tenfold has");
}

const char* buffer_format(DType type) {
  switch (type) {
    case DType::f32: return "f";
    case DType::f64: return "d";
    case DType::f16: return "e";
    case DType::boolean: return "?";
    case DType::i8: return "b";
    case DType::i16: return "h";
    case DType::i32: return "i";
    case DType::i64: return "q";
    case DType::u8: return "B";
    case DType::u16: return "H";
    case DType::u32: return "I";
    case DType::u64: return "Q";
    default: return nullptr;
  }
}

DType dtype_of(nb::handle type, const std::string& what) {
  std::string text;
  if (PyUnicode_Check(type.ptr())) {
    text = nb::cast<const char*>(type);
    if (const auto known = dtype_from_name(text)) return *known;
    for (const TypeName& n : kNames)
      if (text == n.numpy) return n.type;
  }
  nb::object dtype;
  try {
    dtype = module_of("numpy").attr("dtype")(type);
  } catch (nb::python_error&) {
    raise_type_error(what + ": there is no element type " + nb::cast<std::string>(nb::repr(type)).c_str());
  }
  if (!nb::cast<bool>(dtype.attr("isnative"))) dtype_of_format(">", 0, what);
  text = nb::cast<const char*>(nb::str(dtype.attr("name")));
  for (const TypeName& n : kNames)
    if (text == n.numpy) return n.type;
  if (text == "object") dtype_of_format("O", 0, what);
  raise_type_error(what + ": no tensor of Tenfold has elements of the type " + text);
}

std::string numpy_name(DType type) {
  const TypeName* n = named(type);
  return n == nullptr ? std::string(name(type)) : n->numpy;
}

nb::object numpy_dtype(DType type) {
  static PyObject* made[static_cast<int>(DType::count_)] = {};  // kept for ever
  PyObject*& known = made[static_cast<int>(type)];
  if (known != nullptr) return nb::borrow(known);
  const TypeName* n = named(type);
  if (n == nullptr || bits(type) < 8)
    raise_error(ErrorKind::unsupported, "NumPy has no packed arrays of " + std::string(name(type)) +
                                            ": build with another type there (input_formats, output_formats)");
  nb::object dtype;
  try {
    dtype = module_of("numpy").attr("dtype")(n->numpy);
  } catch (nb::python_error&) {
    try {
      dtype = module_of("numpy").attr("dtype")(module_of("ml_dtypes").attr(n->numpy));
    } catch (nb::python_error&) {
      raise_error(ErrorKind::unsupported,
                  "NumPy has no " + std::string(n->numpy) + " without the package ml_dtypes: pip install ml_dtypes");
    }
  }
  known = dtype.inc_ref().ptr();
  return dtype;
}

bool has_torch_dtype(DType type) {
  const TypeName* n = named(type);
  return n != nullptr && n->torch[0] != '\0' && nb::hasattr(module_of("torch"), n->torch);
}

nb::object torch_dtype(DType type) {
  static PyObject* known[static_cast<int>(DType::count_)] = {};  // kept for ever
  PyObject*& found = known[static_cast<int>(type)];
  if (found == nullptr) {
    if (!has_torch_dtype(type)) raise_error(ErrorKind::unsupported, "torch has no tensors of " + std::string(name(type)));
    found = nb::object(module_of("torch").attr(named(type)->torch)).release().ptr();
  }
  return nb::borrow(found);
}

Maker maker_of(nb::handle array) {
  const auto is = [&](const char* module, const char* type) {  // only if somebody has imported the module
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* found = PyDict_GetItemString(modules, module);
    return found != nullptr && nb::hasattr(found, type) && PyObject_IsInstance(array.ptr(), nb::getattr(found, type).ptr()) == 1;
  };
  if (is("torch", "Tensor")) return Maker::torch;
  return is("cupy", "ndarray") ? Maker::cupy : Maker::numpy;
}

}  // namespace tenfold::python
