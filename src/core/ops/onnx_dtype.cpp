// ONNX TensorProto.DataType numbers and our element types.
#include "ops/onnx_dtype.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "ir/fault.h"

namespace tenfold::ops {
namespace {

struct Entry { std::int64_t number; DType type; };

constexpr std::array kEntries{
    Entry{1, DType::f32}, Entry{2, DType::u8}, Entry{3, DType::i8}, Entry{4, DType::u16}, Entry{5, DType::i16}, Entry{6, DType::i32},
    Entry{7, DType::i64}, Entry{8, DType::string}, Entry{9, DType::boolean}, Entry{10, DType::f16}, Entry{11, DType::f64},
    Entry{12, DType::u32}, Entry{13, DType::u64}, Entry{16, DType::bf16}, Entry{17, DType::f8e4m3fn}, Entry{18, DType::f8e4m3fnuz},
    Entry{19, DType::f8e5m2}, Entry{20, DType::f8e5m2fnuz}, Entry{21, DType::u4}, Entry{22, DType::i4}, Entry{23, DType::f4e2m1},
    Entry{24, DType::f8e8m0}, Entry{25, DType::u2}, Entry{26, DType::i2}};

}  // namespace

DType dtype_from_onnx(std::int64_t number) {
  const auto* found = std::find_if(kEntries.begin(), kEntries.end(), [number](const Entry& e) { return e.number == number; });
  ir::supported(number != 14 && number != 15, "element type ", number, " (complex) is not supported");
  ir::validate(found != kEntries.end(), "element type ", number, " does not exist");
  return found->type;
}

std::int64_t onnx_number(DType type) {
  const auto* found = std::find_if(kEntries.begin(), kEntries.end(), [type](const Entry& e) { return e.type == type; });
  check(found != kEntries.end(), "an element type without an ONNX number");
  return found->number;
}

}  // namespace tenfold::ops
