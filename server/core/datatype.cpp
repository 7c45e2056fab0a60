#include "core/datatype.h"

namespace tenfold::server {
namespace {

struct Row {
  DType dtype;
  std::string_view v2, configured;
};
constexpr Row kRows[] = {
    {DType::boolean, "BOOL", "TYPE_BOOL"}, {DType::u8, "UINT8", "TYPE_UINT8"},   {DType::u16, "UINT16", "TYPE_UINT16"},
    {DType::u32, "UINT32", "TYPE_UINT32"}, {DType::u64, "UINT64", "TYPE_UINT64"}, {DType::i8, "INT8", "TYPE_INT8"},
    {DType::i16, "INT16", "TYPE_INT16"},   {DType::i32, "INT32", "TYPE_INT32"},   {DType::i64, "INT64", "TYPE_INT64"},
    {DType::f16, "FP16", "TYPE_FP16"},     {DType::f32, "FP32", "TYPE_FP32"},     {DType::f64, "FP64", "TYPE_FP64"},
    {DType::string, "BYTES", "TYPE_STRING"}, {DType::bf16, "BF16", "TYPE_BF16"},
};

const Row* row_of(DType type) {
  for (const Row& row : kRows)
    if (row.dtype == type) return &row;
  return nullptr;
}

}  // namespace

std::string_view v2_name(DType type) {
  const Row* row = row_of(type);
  return row ? row->v2 : std::string_view();
}
std::string_view configured_name(DType type) {
  const Row* row = row_of(type);
  return row ? row->configured : std::string_view();
}
std::optional<DType> dtype_of_v2(std::string_view name) {
  for (const Row& row : kRows)
    if (row.v2 == name) return row.dtype;
  return std::nullopt;
}

}  // namespace tenfold::server
