// Attention against numpy: masks, causal order, heads of different sizes.
#include "ops/expect_case.h"

namespace tenfold::ops {
namespace {

// Expected values are numpy's, in double.
const ExpectedCase kCases[] = {
    {"FusedAttention", R"(f32[1,2,2,2]{0,-1.625,0,0.625,-0.25,1.75,1.875,-0.625} f32[1,2,3,2]{1.875,-1,-1.5,0.625,-1.375,-0.75,-0.375,0.75,
        1.375,1.625,0.5,1.875} f32[1,2,3,1]{1,1.5,0.375,-1.625,-1.25,-0.375} scale=0.5)",
     R"(f32[1,2,2,1]{0.8192304,1.041422,-0.9137195,-1.093116})", 1e-6},
    {"FusedAttention",
     R"(f32[2,1,2,2]{1.25,-0.375,-2,-0.25,0.875,2,-1.25,-0.75} f32[2,1,2,2]{-0.125,0,2,-0.375,0.125,-1,-1.875,-0.5} f32[2,1,2,
        2]{-0.25,-1.375,0.625,-0.75,-1.875,0.125,-1,1} f32[2,1,1,2]{-2,1.125,0.125,1} scale=1.0)",
     R"(f32[2,1,2,2]{0.6226611,-0.7516706,-0.02001339,-1.210724,-1.410192,0.5898082,-1.041498,0.9585024})", 1e-6},
    {"FusedAttention", R"(f32[1,1,3,2]{-0.5,1.625,0,2,-0.875,1.5} f32[1,1,3,2]{0.625,1.75,-1.375,0,1.625,-1} f32[1,1,3,2]{1.875,1.875,0,1,
        -0.125,0.625} scale=0.25 causal=1)",
     R"(f32[1,1,3,2]{1.875,1.875,1.323347,1.617562,0.8799822,1.367249})", 1e-6},
};

TEST(Attention, SameResults) {
  for (const ExpectedCase& e : kCases) expect_case(e);
}

TEST(Attention, CasesRun) {
  for (const char* op : {"FusedAttention", "Attention", "RotaryEmbedding"}) expect_cases_run(op);
}

}  // namespace
}  // namespace tenfold::ops
