// Attention against numpy: masks, causal order, heads of different sizes.
#include "ops/expect_case_for_tests.h"

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
    {"FusedAttention", R"(f32[1,2,2,2]{2.75,0.75,1.125,2.375,0.5,1.75,2,-1.625} f32[1,2,3,2]{-2.75,-1.25,-1.375,2.25,2.5,-3,0,2,-2.25,1.875,
        -2.375,-0.25} f32[1,2,3,2]{2,-1.25,-1,-1.375,1.375,-1.5,3,-0.375,-0.125,0,0.5,0.375} f32[1,1,2,3]{0,3,1.875,1.75,1.25,0.75}
        scale=0.5 softcap=1.5)",
     R"(f32[1,2,2,2]{0.8109838,-1.468438,-0.6280326,-1.368097,0.09692477,-0.002170255,1.751582,-0.1448178})", 1e-6},
    // A row from which minus infinity hides every key, as the operator Attention has it and as a softmax has it; a query that is NaN.
    {"FusedAttention",
     R"(f32[1,1,3,2]{1,0,0,1,1,1} f32[1,1,2,2]{1,2,0.5,-1} f32[1,1,2,2]{1,2,3,4} f32[1,1,3,2]{0,-inf,-inf,-inf,0,0} scale=0.5)",
     R"(f32[1,1,3,2]{1,2,0,0,1.296094,2.296094})", 1e-6},
    {"FusedAttention",
     R"(f32[1,1,3,2]{1,0,0,1,1,1} f32[1,1,2,2]{1,2,0.5,-1} f32[1,1,2,2]{1,2,3,4} f32[1,1,3,2]{0,-inf,-inf,-inf,0,0} scale=0.5 nan_rows=1)",
     R"(f32[1,1,3,2]{1,2,nan,nan,1.296094,2.296094})", 1e-6},
    {"FusedAttention",
     R"(f32[1,1,3,2]{1,0,0,1,nan,1} f32[1,1,2,2]{1,2,0.5,-1} f32[1,1,2,2]{1,2,3,4} f32[1,1,3,2]{0,-inf,-inf,-inf,0,0} scale=0.5)",
     R"(f32[1,1,3,2]{1,2,0,0,nan,nan})", 1e-6},
};

TEST(Attention, SameResults) {
  for (const ExpectedCase& e : kCases) expect_case(e);
}

TEST(Attention, CasesRun) {
  for (const char* op : {"FusedAttention", "Attention", "RotaryEmbedding"}) expect_cases_run(op);
}

// A mask that is not the scores' would be read beyond its end.
TEST(Attention, RefusesMasksOfOtherScores) {
  const std::string inputs = "(q f32[2,3,8,4], k f32[2,3,6,4], v f32[2,3,6,4], mask ", call = ")\n y = Attention(q, k, v, mask)";
  for (const char* mask : {"f32[4,6]", "f32[2,8,6]", "f32[4,3,8,6]", "f32[1,2,3,8,6]"}) expect_refused(inputs + mask + call);
  for (const char* mask : {"f32[]", "f32[6]", "f32[8,4]", "f32[1,8,6]", "f32[2,1,1,6]"})
    EXPECT_EQ(type_of(inputs + mask + call), "f32[2,3,8,4]");
  const std::string valid = "(q f32[2,3,8,4], k f32[2,3,6,4], v f32[2,3,6,4], n i64", use = ")\n y = Attention(q, k, v, _, _, _, n)";
  for (const char* dims : {"[3]", "[2,1]", "[]"}) expect_refused(valid + dims + use);
  EXPECT_EQ(type_of(valid + "[2]" + use), "f32[2,3,8,4]");
}

TEST(Attention, RefusesAPastOfOtherHeads) {
  const std::string inputs = "(q f32[2,3,4,8], k f32[2,3,6,8], v f32[2,3,6,8], pk f32", call = ")\n y = Attention(q, k, v, _, pk, pv)";
  const std::string good = "[2,3,12,8]";
  for (const char* bad : {"[1,3,12,8]", "[2,1,12,8]", "[2,3,11,8]", "[2,3,12,4]", "[3,12,8]"}) {
    expect_refused(inputs + good + ", pv f32" + bad + call);
    expect_refused(inputs + bad + ", pv f32" + good + call);
  }
  EXPECT_EQ(type_of(inputs + good + ", pv f32" + good + call), "f32[2,3,4,8]");
}

// Sizes that are symbols while the model is read are compared when it runs.
TEST(Attention, RefusesOtherSizesWhenItRuns) {
  const Tensor q(DType::f32, {1, 1, 4, 2}), k(DType::f32, {1, 1, 3, 2});
  const std::string inputs = "(q f32[1,1,rows,2], k f32[b,1,3,2], v f32[1,1,3,2], ";
  expect_reference_refuses(inputs + "mask f32[m,3])\n y = Attention(q, k, v, mask)\n return y", {q, k, k, Tensor(DType::f32, {3, 3})},
                           "3 where the scores have 4");
  expect_reference_refuses(inputs + "pk f32[1,1,p,2], pv f32[c,1,p,2])\n y = Attention(q, k, v, _, pk, pv)\n return y",
                           {q, k, k, Tensor(DType::f32, {1, 1, 5, 2}), Tensor(DType::f32, {0, 1, 5, 2})}, "[0,1,5,2] is not [1,1,5,2]");
  EXPECT_NO_THROW(run_graph(ir::parse_graph(inputs + "mask f32[m,3])\n y = Attention(q, k, v, mask)\n return y", ir::Registry::builtin()),
                            {q, k, k, Tensor(DType::f32, {1, 3})}));
}

}  // namespace
}  // namespace tenfold::ops
