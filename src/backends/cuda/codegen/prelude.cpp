// How element types are written in CUDA C.
#include "backends/cuda/codegen/prelude.h"

#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

struct Types {
  std::string_view storage, compute;
};
Types types(DType dtype) {
  switch (dtype) {
    case DType::f32: return {"float", "float"};
    case DType::f64: return {"double", "double"};
    case DType::f16:
    case DType::bf16: return {"u16", "float"};
    case DType::f8e4m3fn: return {"u8", "float"};
    case DType::i64: return {"i64", "i64"};
    case DType::i32: return {"int", "int"};
    case DType::i16: return {"short", "short"};
    case DType::i8: return {"i8", "i8"};
    case DType::u64: return {"u64", "u64"};
    case DType::u32: return {"u32", "u32"};
    case DType::u16: return {"u16", "u16"};
    case DType::u8: return {"u8", "u8"};
    case DType::boolean: return {"u8", "bool"};
    default: return {};
  }
}

}  // namespace

bool has_c_type(DType dtype) { return !types(dtype).storage.empty(); }
std::string_view storage_type(DType dtype) { return types(dtype).storage; }
std::string_view compute_type(DType dtype) { return types(dtype).compute; }

std::string loaded(DType dtype, const std::string& stored) {
  if (dtype == DType::f16) return cat("from_f16(", stored, ")");
  if (dtype == DType::bf16) return cat("from_bf16(", stored, ")");
  if (dtype == DType::f8e4m3fn) return cat("from_f8(", stored, ")");
  if (dtype == DType::boolean) return cat("(", stored, " != 0)");
  return stored;
}
std::string stored(DType dtype, const std::string& computed) {
  if (dtype == DType::f16) return cat("to_f16(", computed, ")");
  if (dtype == DType::bf16) return cat("to_bf16(", computed, ")");
  if (dtype == DType::f8e4m3fn) return cat("to_f8(", computed, ")");
  if (dtype == DType::boolean) return cat("(u8)(", computed, ")");
  return computed;
}

}  // namespace tenfold::backends::cuda
