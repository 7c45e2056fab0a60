// Operators that index data, and Einsum: numpy's results, indices outside the data, and symbols.
#include "ops/expect_case_for_tests.h"

namespace tenfold::ops {
namespace {

// Expected values are numpy's.
const ExpectedCase kCases[] = {
    {"Gather", R"(f32[3,4]{0,1,2,3,4,5,6,7,8,9,10,11} i64[2]{2,-3})", R"(f32[2,4]{8,9,10,11,0,1,2,3})"},
    {"Gather", R"(f32[3,4]{0,1,2,3,4,5,6,7,8,9,10,11} i32[2,2]{0,3,-1,1} axis=1)", R"(f32[3,2,2]{0,3,3,1,4,7,7,5,8,11,11,9})"},
    {"Gather", R"(f32[3,4]{0,1,2,3,4,5,6,7,8,9,10,11} i64[]{1} axis=-1)", R"(f32[3]{1,5,9})"},
    {"GatherElements", R"(f32[3,3]{0,1,2,3,4,5,6,7,8} i64[2,3]{1,2,0,2,0,-3})", R"(f32[2,3]{3,7,2,6,1,2})"},
    {"GatherElements", R"(f32[3,3]{0,1,2,3,4,5,6,7,8} i64[3,2]{0,-1,1,1,2,0} axis=1)", R"(f32[3,2]{0,2,4,4,8,6})"},
    {"GatherND", R"(f32[2,3,2]{0,1,2,3,4,5,6,7,8,9,10,11} i64[2,2]{0,-1,1,0})", R"(f32[2,2]{4,5,6,7})"},
    {"GatherND", R"(f32[2,3,2]{0,1,2,3,4,5,6,7,8,9,10,11} i64[2,1]{2,0} batch_dims=1)", R"(f32[2,2]{4,5,6,7})"},
    {"ScatterElements", R"(f32[3,3]{0,0,0,0,0,0,0,0,0} i64[2,3]{1,0,2,0,2,-2} f32[2,3]{1,2,3,4,5,6})", R"(f32[3,3]{4,2,0,1,0,6,0,5,3})"},
    {"ScatterElements", R"(f32[1,5]{1,2,3,4,5} i64[1,3]{1,1,3} f32[1,3]{1,2,3} axis=1 reduction="add")", R"(f32[1,5]{1,5,3,7,5})"},
    {"ScatterElements", R"(u8[3]{3,200,7} i64[3]{1,1,0} u8[3]{2,100,2} reduction="mul")", R"(u8[3]{6,64,7})"},
    {"ScatterElements", R"(i32[2]{-5,4} i64[2]{0,1} i32[2]{-9,9} reduction="max")", R"(i32[2]{-5,9})"},
    {"ScatterND", R"(f32[4,2]{0,1,2,3,4,5,6,7} i64[2,1]{3,-4} f32[2,2]{50,51,60,61})", R"(f32[4,2]{60,61,2,3,4,5,50,51})"},
    {"ScatterND", R"(f32[4]{0,1,2,3} i64[3,1]{1,1,2} f32[3]{10,20,30} reduction="add")", R"(f32[4]{0,31,32,3})"},
    {"ScatterND", R"(f32[4]{0,1,2,3} i64[2,1]{0,3} f32[2]{2,1} reduction="min")", R"(f32[4]{0,1,2,1})"},
    {"ScatterElements", R"(f32[4]{0,1,nan,3} i64[4]{1,1,2,3} f32[4]{nan,5,7,1} reduction="max")", R"(f32[4]{0,nan,nan,3})"},
    {"ScatterElements", R"(f32[4]{0,1,nan,3} i64[4]{1,1,2,3} f32[4]{nan,5,7,1} reduction="min")", R"(f32[4]{0,nan,nan,1})"},
    {"ScatterND", R"(f32[4]{0,1,nan,3} i64[4,1]{1,1,2,3} f32[4]{nan,5,7,1} reduction="max")", R"(f32[4]{0,nan,nan,3})"},
    {"ScatterND", R"(f16[4]{0,1,nan,3} i64[4,1]{1,1,2,3} f16[4]{nan,5,7,1} reduction="min")", R"(f16[4]{0,nan,nan,1})"},
    {"OneHot", R"(i64[3]{1,-1,7} i64[]{3} f32[2]{2,5})", R"(f32[3,3]{2,5,2,2,2,5,2,2,2})"},
    {"OneHot", R"(i64[2]{1,0} i32[1]{3} i8[2]{0,1} axis=0)", R"(i8[3,2]{0,1,1,0,0,0})"},
    {"NonZero", R"(f32[2,3]{0,1.5,0,-2,0,0.25})", R"(i64[2,3]{0,1,1,1,0,2})"},
    {"Compress", R"(f32[4,2]{0,1,2,3,4,5,6,7} bool[4]{0,1,0,1} axis=0)", R"(f32[2,2]{2,3,6,7})"},
    {"Compress", R"(f32[4,2]{0,1,2,3,4,5,6,7} bool[3]{0,1,1})", R"(f32[2]{1,2})"},
    {"TopK", R"(f32[2,4]{3,1,3,2,0,-1,5,5} i64[1]{2} outputs=2)", R"(f32[2,2]{3,3,5,5} i64[2,2]{0,2,2,3})"},
    {"TopK", R"(f32[2,4]{3,1,3,2,0,-1,5,5} i64[1]{1} axis=0 largest=0 outputs=2)", R"(f32[1,4]{0,-1,3,2} i64[1,4]{1,1,0,0})"},
    {"Unique", R"(f32[6]{2,1,1,3,4,3} outputs=4)", R"(f32[4]{1,2,3,4} i64[4]{1,0,3,4} i64[6]{1,0,0,2,3,2} i64[4]{2,1,2,1})"},
    {"Unique", R"(i32[3,2]{1,0,1,0,0,3} axis=0 outputs=4)", R"(i32[2,2]{0,3,1,0} i64[2]{2,0} i64[3]{1,1,0} i64[2]{1,2})"},
    {"Unique", R"(f32[6]{2,1,1,3,4,3} sorted=0)", R"(f32[4]{2,1,3,4})"},
    {"TensorScatter", R"(f32[2,3,1]{0,0,0,0,0,0} f32[2,2,1]{1,2,3,4} i64[2]{1,2} mode="circular")", R"(f32[2,3,1]{0,1,2,4,0,3})"},
    {"NonMaxSuppression",
     R"(f32[1,3,4]{0,0,1,1,0,0.100000001,1,1.10000002,0,10,1,11} f32[1,1,3]{0.75,0.899999976,0.5} i64[1]{3} f32[1]{0.5} f32[1]{0})",
     R"(i64[2,3]{0,0,1,0,0,2})"},
    {"Compress", R"(f32[3]{0,1,2} bool[3]{0,1,1} axis=0)", R"(f32[2]{1,2})"},
    {"Einsum", R"(f32[2,3]{0,1,2,3,4,5} f32[3,2]{0,1,2,3,4,5} equation="ij,jk->ik")", R"(f32[2,2]{10,13,28,40})"},
    {"Einsum", R"(f32[2,3]{0,1,2,3,4,5} equation="ba")", R"(f32[3,2]{0,3,1,4,2,5})"},
    {"Einsum", R"(f32[2,3,3]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17} equation="...ii")", R"(f32[2]{12,39})"},
    {"Einsum", R"(f32[3]{0,1,2} f32[3]{0,1,2} equation="i,i->")", R"(f32[]{5})"},
    {"Einsum", R"(f32[2,1,2,2]{0,1,2,3,4,5,6,7} f32[3,2,2]{0,1,2,3,4,5,6,7,8,9,10,11} equation="...ij,...jk->...ki")",
     R"(f32[2,3,2,2]{2,6,3,11,6,26,7,31,10,46,11,51,10,14,19,27,46,66,55,79,82,118,91,131})"},
};

TEST(Index, SameResultsAsNumpy) {
  for (const ExpectedCase& e : kCases) expect_case(e);
}

TEST(Index, CasesRun) {
  for (const char* op : {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "OneHot", "NonZero", "Compress", "TopK",
                         "Unique", "NonMaxSuppression", "TensorScatter", "Einsum"})
    expect_cases_run(op);
}

std::string failure_of(const char* op_name, const char* problem) {
  try {
    const ir::OpDef& op = ir::Registry::builtin().get(op_name);
    const Case c = parse_case(op, problem);
    run_graph(case_graph(ir::Registry::builtin(), op, c), {});
    return "no error";
  } catch (const Error& e) {
    return std::string(tenfold::name(e.kind())) + ": " + e.what();
  }
}

// Floats keep inference from knowing the contents, so that the kernels have to look.
TEST(Index, IndicesOutsideTheDataAreRefused) {
  const std::pair<const char*, const char*> bad[] = {
      {"Gather", "f32[2]{1,2} i64[1]{2}"}, {"Gather", "f32[2]{1,2} i64[1]{-3}"}, {"GatherElements", "f32[2]{1,2} i64[2]{0,2}"},
      {"GatherND", "f32[2,2]{1,2,3,4} i64[1,2]{0,2}"}, {"ScatterElements", "f32[2]{1,2} i64[1]{-3} f32[1]{0}"},
      {"ScatterND", "f32[2]{1,2} i64[1,1]{9223372036854775807} f32[1]{0}"}};
  for (const auto& [op, problem] : bad) {
    const std::string failure = failure_of(op, problem);
    EXPECT_NE(failure.find("in input 1"), std::string::npos) << op << " " << problem << ": " << failure;
  }
  EXPECT_NE(failure_of("TopK", "f32[2]{1,2} i64[1]{3}").find("k is 3"), std::string::npos);
  EXPECT_NE(failure_of("Compress", "f32[2]{1,2} bool[3]{0,0,1} axis=0"), "no error");
}

TEST(Index, TypesStaySymbolic) {
  EXPECT_EQ(type_of("(w f32[1000,64], i i64[batch,n])\n y = Gather(w, i)"), "f32[batch,n,64]");
  EXPECT_EQ(type_of("(x f32[a,b,c])\n s = Shape(x)\n y = Gather(s, i64[]{-2})"), "i64[] {b}");
  EXPECT_EQ(type_of("(x f32[a,b,c])\n s = Shape(x)\n y = Gather(s, i64[3]{2,0,1})"), "i64[3] {c,a,b}");
  EXPECT_EQ(type_of("(x f32[b,n,c], i i64[b,4,1])\n y = GatherND(x, i) batch_dims=1"), "f32[b,4,c]");
  EXPECT_EQ(type_of("(i i64[b,n])\n y = OneHot(i, i64[]{10}, f32[2]{0,1})"), "f32[b,n,10]");
  EXPECT_EQ(type_of("(x f32[b,n], z f32[k])\n s = Shape(z)\n v, i = TopK(x, s)\n return i"), "i64[b,k]");
  EXPECT_EQ(type_of("(q f32[b,h,i,d], k f32[b,h,j,d])\n y = Einsum(q, k) equation=\"bhid,bhjd->bhij\""), "f32[b,h,i,j]");
  expect_refused("(x f32[a,b,c])\n s = Shape(x)\n y = Gather(s, i64[]{3})");
  for (const char* equation : {"ij->ik", "ij", "ijk->i", "i.j->i", "ij,jk->ik", "ij->ii", ""})
    expect_refused("(x f32[a,b,c,d])\n y = Einsum(x) equation=\"" + std::string(equation) + "\"");
}

TEST(Index, CountsFromTheDataAreBoundedSymbols) {
  const ir::Graph graph = ir::parse_graph("symbol n [1 .. 7] input_dim\n(x f32[3,n])\n y = NonZero(x)", ir::Registry::builtin());
  const ir::Dims& dims = graph.outputs[0]->dims();
  ASSERT_EQ(dims.size(), 2u);
  EXPECT_EQ(dims[0], ir::Dim(2));
  ASSERT_TRUE(dims[1].is_symbol());
  EXPECT_EQ(dims[1].bounds(graph.box()), (ir::Interval{0, 21}));
  EXPECT_EQ(graph.symbols.back().origin, ir::Origin::host_value);
}

}  // namespace
}  // namespace tenfold::ops
