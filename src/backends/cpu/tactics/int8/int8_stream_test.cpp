// Int8 products whose rows get their epilogue while others are added up, against the reference, and with the bits of all other instruction
// sets.
#include "backends/case_share_for_tests.h"
#include "backends/cpu/tactics/int8/int8_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_int8_igemm();
Tactic cpu_matmul_int8();
namespace {

using namespace testing;

struct Shape {
  const char *op, *text;
  std::int64_t columns;
  const char* out;  // its dims
};

// 64 columns and 32 more, k of few steps and of many, rows that fill no tile, signed values, zero points; windows whose lines leave gaps,
// of one image and of two, also in several blocks, whose lines share borders wider than windows, strided ones that are gathered, groups.
constexpr Shape kShapes[] = {
    {"MatMulInteger", "u8[50,40](0,255) i8[40,96](-127,127)! u8[]{0}", 96, "[50,96]"},
    {"MatMulInteger", "u8[300,128](0,255) i8[128,64](-127,127)! u8[]{131}", 64, "[300,64]"},
    {"MatMulInteger", "i8[49,1300](-128,127) i8[1300,128](-127,127)! i8[]{-7}", 128, "[49,128]"},
    {"MatMulInteger", "u8[17,1100](0,255) i8[1100,32](-127,127)! u8[]{3}", 32, "[17,32]"},
    {"ConvInteger", "u8[1,64,9,30](0,255) i8[64,64,3,3](-127,127)! u8[]{0} pads=[1,1,1,1]", 64, "[1,64,9,30]"},
    {"ConvInteger", "i8[2,128,7,7](-128,127) i8[128,128,3,3](-127,127)! i8[]{5} pads=[1,1,1,1]", 128, "[2,128,7,7]"},
    {"ConvInteger", "u8[1,3,20,21](0,255) i8[96,3,7,7](-127,127)! u8[]{114} pads=[3,3,3,3] strides=[2,2]", 96, "[1,96,10,11]"},
    {"ConvInteger", "u8[1,10,6,9](0,255) i8[64,10,3,2](-127,127)! u8[]{8} pads=[1,2,1,2]", 64, "[1,64,6,12]"},
    {"ConvInteger", "u8[1,10,6,9](0,255) i8[64,10,3,2](-127,127)! u8[]{8} pads=[1,2,1,4]", 64, "[1,64,6,14]"},
    {"ConvInteger", "i8[2,10,6,9](-128,127) i8[64,10,3,2](-127,127)! i8[]{8} pads=[3,2,3,4]", 64, "[2,64,10,14]"},
    {"ConvInteger", "u8[1,70,8,9](0,255) i8[32,70,3,1](-127,127)! u8[]{8} pads=[1,1,1,1]", 32, "[1,32,8,11]"},
    {"ConvInteger", "u8[1,64,19,21](0,255) i8[96,64,1,1](-127,127)! u8[]{0}", 96, "[1,96,19,21]"},
    {"ConvInteger", "u8[1,600,9,9](0,255) i8[64,600,1,1](-127,127)! u8[]{1} strides=[2,2]", 64, "[1,64,5,5]"},
    {"ConvInteger", "u8[2,64,3,5](0,255) i8[64,64,1,1](-127,127)! u8[]{9} pads=[0,0,2,1]", 64, "[2,64,5,6]"},
    {"ConvInteger", "u8[2,10,33,21](0,255) i8[32,10,3,3](-127,127)! u8[]{0} pads=[1,1,1,1]", 32, "[2,32,33,21]"},
    {"MatMulInteger", "u8[1201,64](0,255) i8[64,64](-127,127)! u8[]{0}", 64, "[1201,64]"},
    {"ConvInteger", "u8[1,64,6,7](0,255) i8[64,32,1,1](-127,127)! u8[]{9} group=2", 64, "[1,64,6,7]"},
};

Int8Case case_of(const Shape& s) {
  const bool conv = std::string_view(s.op) == "ConvInteger";
  const std::string dims = cat("[", s.columns, conv ? ",1,1]" : "]");
  Int8Case c{s.op, s.text};
  c.extra = {cat("f32", dims, "(0.0001,0.0005)!"), cat("f32", dims, "(-3,3)!")};
  return c;
}
const Tactic& tactic_of(const Shape& s) {
  static const Tactic conv = cpu_conv_int8_igemm(), matmul = cpu_matmul_int8();
  return std::string_view(s.op) == "ConvInteger" ? conv : matmul;
}

TEST(Int8Stream, Plain) {
  CaseShare share;
  for (const Shape& s : kShapes) {
    for (const DType to : {DType::u8, DType::i8}) {
      Int8Case c = case_of(s);
      for (const double zero : {0, 100}) {
        if (zero != 0 && to == DType::i8) continue;
        if (!share.next()) continue;
        c.body = quantized_epilogue(to, 0.25, zero, DType::i32, to == DType::u8);
        check_int8(tactic_of(s), c, 1, true);
      }
    }
  }
}

// So large that workers' stretches of rows take them in pieces.
TEST(Int8Stream, LargeWeights) {
  Int8Case c = case_of({"MatMulInteger", "u8[390,1040](0,255) i8[1040,512](-127,127)! u8[]{0}", 512, "[390,512]"});
  c.body = quantized_epilogue(DType::u8, 0.25, 100, DType::i32, true);
  check_int8(cpu_matmul_int8(), c, 1, true);
}

TEST(Int8Stream, Residual) {
  CaseShare share;
  for (const Shape& s : kShapes) {
    for (const DType residual : {DType::u8, DType::i8}) {
      Int8Case c = case_of(s);
      c.extra.push_back(cat(name(residual), s.out));
      for (const double zero : {0, 3}) {
        if (!share.next()) continue;
        c.body = quantized_epilogue(DType::u8, 0.5, zero, residual, true, zero);
        check_int8(tactic_of(s), c, 1, true);
      }
    }
  }
}

ir::Body epilogue_after_a_grid(double residual_zero) {
  EpilogueBuilder b({DType::i32, DType::f32, DType::f32, DType::u8});
  std::uint16_t y = b.scaled(), r = b.cast(3, DType::f32);
  y = b.on_grid(y, 0.3, 120);
  if (residual_zero != 0) r = b.binary(ir::Prim::sub, r, b.number(residual_zero));
  y = b.binary(ir::Prim::add, b.binary(ir::Prim::mul, r, b.number(0.5)), y);
  return b.finish({b.quantized(b.binary(ir::Prim::max, y, b.number(0)), 0.4, 0, DType::u8)});
}

TEST(Int8Stream, ResidualAfterAGrid) {
  CaseShare share;
  for (const Shape& s : kShapes) {
    for (const double zero : {0, 9}) {
      if (!share.next()) continue;
      Int8Case c = case_of(s);
      c.body = epilogue_after_a_grid(zero);
      c.extra.push_back(cat("u8", s.out, "(0,255)"));
      check_int8(tactic_of(s), c, 1, true);
    }
  }
}

}  // namespace
}  // namespace tenfold::backends
