// One table for both directions.
#include "types.h"

#include <iterator>

namespace tenfold::triton {
namespace {

struct Row {
  TRITONSERVER_DataType triton;
  std::string_view configured;
  DType dtype;
};
constexpr Row kRows[] = {
    {kTritonBool, "TYPE_BOOL", DType::boolean}, {kTritonUint8, "TYPE_UINT8", DType::u8},
    {kTritonUint16, "TYPE_UINT16", DType::u16}, {kTritonUint32, "TYPE_UINT32", DType::u32},
    {kTritonUint64, "TYPE_UINT64", DType::u64}, {kTritonInt8, "TYPE_INT8", DType::i8},
    {kTritonInt16, "TYPE_INT16", DType::i16},   {kTritonInt32, "TYPE_INT32", DType::i32},
    {kTritonInt64, "TYPE_INT64", DType::i64},   {kTritonFp16, "TYPE_FP16", DType::f16},
    {kTritonFp32, "TYPE_FP32", DType::f32},     {kTritonFp64, "TYPE_FP64", DType::f64},
    {kTritonBytes, "TYPE_STRING", DType::string}, {kTritonBf16, "TYPE_BF16", DType::bf16},
};

template <class Fits>
const Row* find(Fits fits) {
  for (const Row& row : kRows)
    if (fits(row)) return &row;
  return nullptr;
}

}  // namespace

std::optional<DType> dtype_of(TRITONSERVER_DataType type) {
  const Row* row = find([&](const Row& r) { return r.triton == type; });
  return row ? std::optional(row->dtype) : std::nullopt;
}
std::optional<DType> dtype_of(std::string_view configured) {
  const Row* row = find([&](const Row& r) { return r.configured == configured; });
  return row ? std::optional(row->dtype) : std::nullopt;
}
TRITONSERVER_DataType triton_type(DType type) {
  const Row* row = find([&](const Row& r) { return r.dtype == type; });
  return row ? row->triton : kTritonInvalid;
}
std::string_view configured_name(DType type) {
  const Row* row = find([&](const Row& r) { return r.dtype == type; });
  return row ? row->configured : std::string_view();
}

}  // namespace tenfold::triton
