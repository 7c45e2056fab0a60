// Quantization against ONNX Runtime: ties, saturation, scales per tensor, axis and block.
#include "ops/expect_case_for_tests.h"

namespace tenfold::ops {
namespace {

// Expected values are ONNX Runtime's.
const ExpectedCase kCases[] = {
    {"QuantizeLinear", R"(f32[7]{-9,-1,-0.25,0.25,0.75,1.25,9} f32[]{0.5} u8[]{3})",
     R"(u8[7]{0,1,3,3,5,5,21})"},
    {"QuantizeLinear", R"(f32[2,3]{-0.625,-2,-1.625,1.125,1.875,-1} f32[3]{0.5,0.25,1} i8[3]{0,-3,5} axis=1)",
     R"(i8[2,3]{-1,-11,3,2,5,4})"},
    {"QuantizeLinear", R"(f32[2,4]{-1.75,-1.5,-1.875,1.25,-1.875,0.75,1.25,-1.125} f32[2,2]{1.25,1.25,1.75,2} i16[2,2]{5,-4,4,4} axis=1
        block_size=2)",
     R"(i16[2,4]{4,4,-6,-3,3,4,5,3})"},
    {"DequantizeLinear", R"(u8[5]{108,33,80,208,132} f32[]{0.5} u8[]{3})",
     R"(f32[5]{52.5,15,38.5,102.5,64.5})"},
    {"DequantizeLinear", R"(i8[2,3]{-76,82,3,-30,-92,14} f32[2]{0.5,0.25} i8[2]{1,-2} axis=0)",
     R"(f32[2,3]{-38.5,40.5,1,-7,-22.5,4})"},
    {"DequantizeLinear", R"(i8[4,2]{10,-69,69,1,-83,-61,-45,50} f32[2,2]{1.75,1.875,1.625,2} axis=0 block_size=2)",
     R"(f32[4,2]{17.5,-129.375,120.75,1.875,-134.875,-122,-73.125,100})"},
    {"DequantizeLinear", R"(i32[3]{-3744,1659,2578} f32[]{0.5})",
     R"(f32[3]{-1872,829.5,1289})"},
    {"DynamicQuantizeLinear", R"(f32[2,4]{0.5,0.875,1.875,2.5,2.75,0.125,1.875,2.125} outputs=3)",
     R"(u8[2,4]{46,81,174,232,255,12,174,197} f32[]{0.01078431} u8[]{0})", 1e-6},
    {"DynamicQuantizeLinear", R"(f32[3]{2,1.625,1.125} outputs=3)",
     R"(u8[3]{255,207,143} f32[]{0.007843138} u8[]{0})", 1e-6},
};

TEST(Quantize, SameResults) {
  for (const ExpectedCase& e : kCases) expect_case(e);
}

TEST(Quantize, CasesRun) {
  for (const char* op : {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}) expect_cases_run(op);
}

}  // namespace
}  // namespace tenfold::ops
