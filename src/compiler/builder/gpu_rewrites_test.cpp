// What the passes for a GPU make of norms, reductions and what stands around them means the same, on reference kernels.
#include <gtest/gtest.h>

#include <cmath>

#include "base/check.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pipeline.h"

namespace tenfold {
namespace {

struct Rewrite {
  const char *what, *graph;
  bool fuses = true;   // into a Region that reduces
};
const Rewrite kRewrites[] = {
    {"an intermediate is a result, too", "(x f32[4,70])\n m = ReduceMax(x) axes=[-1]\n d = Sub(x, m)\n y = Exp(d)\n return y, d"},
    {"numbers of rows are a result, too", "(x f32[4,70])\n n = ReduceL2(x) axes=[-1]\n y = Div(x, n)\n return y, n", false},
    {"two read what is reduced", "(x f32[4,70])\n n = ReduceL2(x) axes=[-1] keepdims=0\n a = Sqrt(n)\n b = Neg(n)\n return a, b", false},
    {"dims dropped behind, then both a result and read", R"((x f32[4,70])
      e = Exp(x)
      s = ReduceSum(e) axes=[-1] keepdims=0
      l = Log(s)
      n = Neg(l)
      return n, l)"},
    {"the same operand twice", "(x f32[4,70])\n m = ReduceMean(x) axes=[-1]\n q = Mul(m, m)\n y = Sub(x, q)"},
    {"an operand along a part of the row", R"((x f32[3,4,8], w f32[4,8], b f32[4,8], k f32[8], r f32[4,1])
      n = LayerNormalization(x, w, b) axis=1
      a = Add(n, k)
      y = Mul(a, r))"},
    {"a reshape between rows of one width and of another", R"((x f32[4,6,8])
      to = i64[2]{4,48}
      s = Softmax(x) axis=-1
      r = Reshape(s, to)
      m = ReduceMax(r) axes=[-1]
      y = Sub(r, m))"},
    {"a scale that is cast and repeated", R"((x f32[5,16], w f16[16], b f32[16])
      c = Cast(w) to="f32"
      n = LayerNormalization(x, c, b)
      y = Tanh(n))"},
    {"a result larger than the norm", "(x f32[1,16], z f32[5,16])\n s = Softmax(x) axis=-1\n y = Mul(s, z)", false},
    {"what follows a norm enlarges its rows",
     "(x f32[3,4,1], w f32[4,1], b f32[4,1], k f32[8])\n n = LayerNormalization(x, w, b) axis=1\n y = Add(n, k)", false},
    {"what follows a norm enlarges their number",
     "(x f32[1,16], w f32[16], b f32[16], k f32[2,5,16])\n n = LayerNormalization(x, w, b)\n y = Add(n, k)", false},
    {"reductions that drop different dims", R"((x f32[3,4,8], z f32[4,8])
      at = i64[1]{-1}
      p = ReduceSum(x) axes=[-1] keepdims=0
      q = ReduceMax(z) axes=[-1] keepdims=0
      s = Add(p, q)
      u = Unsqueeze(s, at)
      y = Mul(x, u))"},
    {"dims that cannot come back, for something else has none to keep", R"((x f32[4,70], k f32[4])
      at = i64[1]{-1}
      e = Exp(x)
      s = ReduceSum(e) axes=[-1] keepdims=0
      a = Add(s, k)
      y = Unsqueeze(a, at))"},
    {"a group norm whose inside is a result", R"((x f32[n,6,4,5], w f32[6], b f32[6])
      g = GroupNormalization(x, w, b) num_groups=3
      r = Relu(g)
      y = Exp(r)
      return y, r)"},
    {"an instance norm of halves", "(x f16[2,3,40], w f16[3], b f16[3])\n i = InstanceNormalization(x, w, b)\n y = Tanh(i)"},
    {"two norms of one sum", R"((x f32[4,16], z f32[4,16], w f32[16], b f32[16])
      s = Add(x, z)
      p = LayerNormalization(s, w, b)
      q = Softmax(s) axis=-1
      y = Mul(p, q))"},
    {"no axes, and noop_with_empty_axes", "(x f32[4,16])\n m = ReduceSum(x) noop_with_empty_axes=1\n y = Exp(m)", false},
    {"no axes: all of them", "(x f32[4,16])\n e = Exp(x)\n y = ReduceSum(e) keepdims=0", false},
    {"rows of no elements", "(x f32[4,m])\n e = Exp(x)\n y = ReduceSum(e) axes=[-1] keepdims=0\n"},
    {"a norm of halves whose squares f16 does not hold", R"((x f16[3,600], w f16[600])
      k = f16[]{300}
      s = Mul(x, k)
      n = RMSNormalization(s, w)
      y = Abs(n))"},
    {"no rows", "(x f32[n,16], w f32[16], b f32[16])\n l = LayerNormalization(x, w, b)\n y = Relu(l)"},
    {"rows masked from end to end", R"((x f32[4,16], k f32[4,1])
      none = f32[]{0}
      far = Div(k, none)
      s = Min(x, far)
      m = Softmax(s) axis=-1
      y = Neg(m))"},
};

bool reduces(const ir::Graph& graph) {
  for (const auto& n : graph.nodes())
    if (n->op() == "Region" && n->body->reduced_rank > 0) return true;
  return false;
}

void expect_near(const Tensor& got, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  ASSERT_EQ(got.dtype(), expected.dtype()) << what;
  const double tolerance = expected.dtype() == DType::f32 ? 1e-5 : 4e-3;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double g = got.as_double(i), w = expected.as_double(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    ASSERT_NEAR(g, w, tolerance * (1 + std::abs(w))) << what << ", element " << i;
  }
}

TEST(GpuRewrites, MeanTheSame) {
  for (const Rewrite& c : kRewrites) {
    const ir::Graph graph = ir::parse_graph(c.graph, ir::Registry::builtin());
    ir::Graph rewritten = graph.clone();
    passes::run(rewritten, passes::pipeline_for({.kind = "cuda", .arch = 90}, {}).in_order());
    EXPECT_EQ(reduces(rewritten), c.fuses) << c.what << "\n" << ir::print(rewritten);
    for (const std::int64_t unknown : {0, 1, 3}) {
      std::vector<ops::RuntimeValue> inputs;
      for (const ir::Value* v : graph.inputs) {
        Shape shape;
        for (const ir::Dim& d : v->dims()) shape.push_back(d.is_constant() ? d.constant() : unknown);
        inputs.push_back(ops::random_tensor(v->dtype(), shape, inputs.size() + 1));
      }
      const std::vector<ops::RuntimeValue> got = ops::run_graph(rewritten, inputs), expected = ops::run_graph(graph, inputs);
      ASSERT_EQ(got.size(), expected.size()) << c.what;
      for (std::size_t i = 0; i < expected.size(); ++i)
        expect_near(std::get<Tensor>(got[i]), std::get<Tensor>(expected[i]), cat(c.what, ", result ", i, "\n", ir::print(rewritten)));
    }
  }
}

}  // namespace
}  // namespace tenfold
