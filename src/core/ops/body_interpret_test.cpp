// The interpreter of bodies: row reductions, broadcasting, rounding after every instruction, casts at the edges of types.
#include "ops/body_interpret.h"

#include "ops/expect_case_for_tests.h"

namespace tenfold::ops {
namespace {

ir::TensorRef reference_to(Tensor& t) { return {t.dtype(), t.shape(), t.mutable_raw()}; }

// Runs a body on literals; `results` give the expected values and the shapes of the outputs.
void expect_body(const char* body_text, const char* operands, const char* results, double tolerance = 0) {
  const ir::Body body = ir::parse_body(body_text);
  std::vector<Tensor> inputs, outputs;
  const std::vector<Tensor> expected = parse_results(results);
  for (const Tensor& t : parse_results(operands)) inputs.push_back(t.clone());
  for (const Tensor& t : expected) outputs.emplace_back(t.dtype(), t.shape());
  std::vector<ir::TensorRef> in, out;
  for (Tensor& t : inputs) in.push_back(reference_to(t));
  for (Tensor& t : outputs) out.push_back(reference_to(t));
  interpret_body(body, in, out);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expect_same(outputs[i], expected[i], std::string(body_text) + " on " + operands, tolerance);
  }
}

const char* kSoftmax =
    "(f32) %1=reduce_max.f32(%0) %2=sub.f32(%0,%1) %3=exp.f32(%2) %4=reduce_sum.f32(%3) %5=div.f32(%3,%4) over=1 -> %5 %4";

TEST(InterpretBody, ReducesRows) {   // expected: numpy
  expect_body(kSoftmax, "f32[2,3]{1,2,3,100,100,100}",
              "f32[2,3]{0.09003057,0.24472848,0.66524094,0.33333334,0.33333334,0.33333334} f32[2,1]{1.503215,3}", 1e-6);
  // A reduced value may also be asked for with its whole row.
  expect_body(kSoftmax, "f32[1,2]{5,5}", "f32[1,2]{0.5,0.5} f32[1,2]{2,2}");
  expect_body("(f32) %1=reduce_sum.f32(%0) over=2 -> %1", "f32[2,2,3]{1,2,3,4,5,6,7,8,9,10,11,12}", "f32[2,1,1]{21,57}");
  expect_body("(u64) %1=reduce_max.u64(%0) %2=reduce_min.u64(%0) over=1 -> %1 %2", "u64[2]{9223372036854775809,7}",
              "u64[1]{9223372036854775809} u64[1]{7}");
}

TEST(InterpretBody, ReducesEmptyRows) {
  expect_body("(f32) %1=reduce_sum.f32(%0) %2=reduce_max.f32(%0) over=1 -> %1 %2", "f32[2,0]{}", "f32[2,1]{0,0} f32[2,1]{-inf,-inf}");
  expect_body("(i8) %1=reduce_max.i8(%0) %2=reduce_min.i8(%0) over=1 -> %1 %2", "i8[1,0]{}", "i8[1,1]{-128} i8[1,1]{127}");
  expect_body(kSoftmax, "f32[0,3]{}", "f32[0,3]{} f32[0,1]{}");
}

TEST(InterpretBody, BroadcastsOperandsAndRows) {
  // (x - mean) * scale: the mean is one value a row, the scale one value a column.
  expect_body("(f32,f32) %2=reduce_sum.f32(%0) %3=constant.f32(0.5) %4=mul.f32(%2,%3) %5=sub.f32(%0,%4) %6=mul.f32(%5,%1) over=1 -> %6",
              "f32[2,2]{1,3,10,20} f32[2]{2,3}", "f32[2,2]{-2,3,-10,15}");
  // An operand of extent 1 along the row counts once for every element of the row.
  expect_body("(f32,f32) %2=add.f32(%0,%1) %3=reduce_sum.f32(%2) over=1 -> %3", "f32[2,1]{1,2} f32[3]{10,20,30}", "f32[2,1]{63,66}");
  expect_body("(i32,i32) %2=add.i32(%0,%1) -> %2", "i32[2,1]{1,2} i32[3]{10,20,30}", "i32[2,3]{11,21,31,12,22,32}");
}

TEST(InterpretBody, RoundsAfterEveryInstruction) {
  // 2048 + 1 rounds to 2048 in half precision, twice; a sum of a row is rounded once.
  expect_body("(f16) %1=constant.f16(1) %2=add.f16(%0,%1) %3=add.f16(%2,%1) -> %3", "f16[1]{2048}", "f16[1]{2048}");
  expect_body("(f16) %1=reduce_sum.f16(%0) over=1 -> %1", "f16[3]{2048,1,1}", "f16[1]{2050}");
  expect_body("(f32) %1=constant.f32(1) %2=add.f32(%0,%1) %3=sub.f32(%2,%0) -> %3", "f32[1]{16777216}", "f32[1]{0}");
  expect_body("(f64) %1=constant.f64(1) %2=add.f64(%0,%1) %3=sub.f64(%2,%0) -> %3", "f64[1]{16777216}", "f64[1]{1}");
  expect_body("(i8) %1=add.i8(%0,%0) -> %1", "i8[3]{100,-100,3}", "i8[3]{-56,56,6}");
}

TEST(InterpretBody, CastsAndSaturates) {
  const char* values = "f32[8]{-1000,-1.5,-0.5,0.5,1.5,2.5,127.6,nan}";
  expect_body("(f32) %1=saturate.i8(%0) -> %1", values, "i8[8]{-128,-2,0,0,2,2,127,0}");
  expect_body("(f32) %1=saturate.u8(%0) -> %1", values, "u8[8]{0,0,0,0,2,2,128,0}");
  expect_body("(f32) %1=saturate.u4(%0) -> %1", values, "u4[8]{0,0,0,0,2,2,15,0}");
  expect_body("(i32) %1=saturate.i8(%0) -> %1", "i32[3]{-129,5,128}", "i8[3]{-128,5,127}");
  expect_body("(f32) %1=saturate.u64(%0) -> %1", "f32[3]{-1,1e30,9.223372036854775808e18}",
              "u64[3]{0,18446744073709551615,9223372036854775808}");
  expect_body("(f32) %1=cast.i32(%0) -> %1", "f32[4]{-1.9,1.9,-0.5,2147483520}", "i32[4]{-1,1,0,2147483520}");
  expect_body("(f32) %1=cast.bool(%0) -> %1", "f32[3]{0,0.1,nan}", "bool[3]{0,1,1}");
}

TEST(InterpretBody, DividesIntegersWithoutTraps) {
  expect_body("(i32,i32) %2=div.i32(%0,%1) %3=mod.i32(%0,%1) %4=fmod.i32(%0,%1) -> %2 %3 %4",
              "i32[4]{7,-7,-2147483648,5} i32[4]{-2,2,-1,0}", "i32[4]{-3,-3,-2147483648,0} i32[4]{-1,1,0,0} i32[4]{1,-1,0,0}");
}

}  // namespace
}  // namespace tenfold::ops
