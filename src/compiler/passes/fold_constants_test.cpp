// Large weights of products stay as they are stored where the products are narrowed to that type.
#include "passes/fold_constants.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/precision/narrow_floats.h"

namespace tenfold::passes {
namespace {

ir::Graph parse(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

// Bytes of all constants, by type.
std::map<DType, std::int64_t> constants_of(const ir::Graph& graph) {
  std::map<DType, std::int64_t> bytes;
  for (const auto& v : graph.values())
    if (v->is_constant() && !v->users.empty()) bytes[v->dtype()] += v->constant->tensor.bytes();
  return bytes;
}

constexpr std::int64_t kElements = 1024 * 768, kSmall = 16 * 768;
// One that is transposed, and whose rows are looked up, too, as tied embeddings are; one as it is; and a small one.
constexpr const char* kDecoder = R"((i i64[2], e bf16[1024,768]!, w bf16[768,1024]!, s bf16[768,16]!)
  f = Cast(e) to="f32"
  x = Gather(f, i)
  t = Transpose(f) perm=[1,0]
  g = Cast(w) to="f32"
  c = Cast(s) to="f32"
  y = MatMul(x, t)
  z = MatMul(x, g)
  u = MatMul(x, c) return y, z, u)";

TEST(FoldConstants, LeaveLargeWeightsAsTheyAreStored) {
  ir::Graph graph = parse(kDecoder);
  run(graph, {pass_fold_constants_but(DType::bf16), pass_fold_constants_but(DType::bf16)});
  const auto held = constants_of(graph);
  EXPECT_EQ(held.at(DType::bf16), 3 * 2 * kElements) << "the table, its transpose and the other one";
  EXPECT_EQ(held.at(DType::f32), 4 * kSmall);
  for (const auto& node : graph.nodes()) EXPECT_NE(node->op(), "Transpose");

  ir::Graph whole = parse(kDecoder);
  run(whole, {pass_fold_constants_but({})});
  EXPECT_EQ(constants_of(whole), (std::map<DType, std::int64_t>{{DType::f32, 4 * (3 * kElements + kSmall)}}));
  Tensor places(DType::i64, {2});
  places.mutable_data<std::int64_t>()[0] = 3, places.mutable_data<std::int64_t>()[1] = 1001;
  const auto expected = ops::run_graph(whole, {places}), got = ops::run_graph(graph, {places});
  for (std::size_t o = 0; o < expected.size(); ++o) {
    const Tensor &a = std::get<Tensor>(expected[o]), &b = std::get<Tensor>(got[o]);
    ASSERT_EQ(a.shape(), b.shape());
    for (std::int64_t k = 0; k < a.size(); ++k) ASSERT_EQ(a.as_double(k), b.as_double(k)) << o;
  }
}

TEST(FoldConstants, LeaveNothingToWidenWhereProductsAreNarrowed) {
  ir::Graph graph = parse(kDecoder);
  run(graph, {pass_fold_constants_but(DType::bf16), pass_fold_constants_but(DType::bf16), pass_narrow_floats(DType::bf16),
              pass_fold_constants_but({})});
  EXPECT_EQ(constants_of(graph), (std::map<DType, std::int64_t>{{DType::bf16, 2 * (3 * kElements + kSmall)}}));
}

TEST(FoldConstants, WidenWhatOthersRead) {
  const auto f32_of = [](const std::string& lines) {
    ir::Graph graph = parse("(x f32[2,1024], w bf16[1024,768]!)\n f = Cast(w) to=\"f32\"\n" + lines);
    run(graph, {pass_fold_constants_but(DType::bf16)});
    return constants_of(graph)[DType::f32];
  };
  EXPECT_EQ(f32_of(" y = MatMul(x, f)\n"), 0);
  EXPECT_EQ(f32_of(" y = MatMul(x, f)\n return y, f\n"), 4 * kElements) << "an output";
  EXPECT_GE(f32_of(" y = MatMul(x, f)\n z = Exp(f)\n return y, z\n"), 4 * kElements) << "read by another node";
}

}  // namespace
}  // namespace tenfold::passes
