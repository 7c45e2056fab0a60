// Running passes: each can be switched off and is seen by name, and one that breaks a graph is caught and named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "builder/builder.h"
#include "ir/text.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

// Something for many passes to do.
constexpr const char* kGraph = R"((x f32[2,8,16], w f32[16,16]!, u f32[16,16]!, b f32[16]!)
    two = f32[]{2.0}
    eps = f32[]{0.001}
    flat = i64[2]{16,16}
    back = i64[3]{2,8,16}
    i = Identity(x)
    xr = Reshape(i, flat)
    p = Gemm(xr, w, b) transB=1
    pr = Reshape(p, back)
    q = MatMul(x, u)
    r = MatMul(x, w)
    m = ReduceMean(pr) axes=[-1]
    d = Sub(pr, m)
    s = Pow(d, two)
    v = ReduceMean(s) axes=[2]
    e = Add(v, eps)
    n = Sqrt(e)
    y = Div(d, n)
    k = Transpose(q) perm=[0,2,1]
    a = MatMul(y, k)
    o = Softmax(a)
    z = MatMul(o, r)
    t = Tanh(z)
    f = Sigmoid(t)
    g = Mul(f, t)
    return g
)";

ir::Graph graph() {
  return ir::parse_graph(kGraph, ir::Registry::builtin(),
                         {.random_constant = [](DType type, const Shape& shape, std::uint64_t) { return Tensor(type, shape); }});
}

std::vector<std::string> dumped(const std::vector<std::string>& disabled) {
  std::vector<std::string> names;
  BuildConfig config;
  config.device = "null";
  config.disabled_passes = disabled;
  config.dump = [&](std::string_view pass, std::string_view text) {
    EXPECT_NE(text.find("return"), std::string_view::npos);
    names.emplace_back(pass);
  };
  builder::build_graph(graph(), config);
  return names;
}

TEST(Manager, PassesAreDumpedAndSwitchedOffByName) {
  const std::vector<std::string> all = dumped({});
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front(), "import");
  const std::set<std::string> names(all.begin() + 1, all.end());
  EXPECT_GE(names.size(), 7u);   // else there is too little to switch off here
  for (const std::string& name : names) {
    const std::vector<std::string> rest = dumped({name});
    EXPECT_EQ(std::count(rest.begin(), rest.end(), name), 0) << name;
  }
  for (const std::string& name : dumped({names.begin(), names.end()})) EXPECT_FALSE(names.count(name)) << name;
}

TEST(Manager, APassThatDoesNotExistIsRefused) {
  try {
    dumped({"fuse_everything"});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("fuse_attention"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("fold_qdq"), std::string::npos) << e.what();
  }
}

// Each breaks one promise of a graph.
bool lost_user(ir::Graph& g) { return g.inputs[0]->users.pop_back(), true; }
bool wrong_body(ir::Graph& g) {
  ir::Node& n = *g.nodes().back();
  n.body = ir::Body{{DType::f32}, {{.prim = ir::Prim::add, .a = 0, .b = 7}}, {1}, 0};
  n.anchor_inputs = static_cast<int>(n.inputs.size());
  return true;
}

bool stale_type(ir::Graph& g) { return g.nodes().front()->outputs[0]->type.tensor.dims[0] = ir::Dim(3), true; }

// Puts what has an axis less in a value's place, and an output of another type in an output's.
bool other_shape(ir::Graph& g) {
  for (ir::Node* n : g.node_list())
    if (n->op() == "Tanh")
      g.replace_uses(n->out(), g.make("ReduceSum", {n->in(0)}, {{"axes", ir::Ints{1}}, {"keepdims", std::int64_t{0}}}));
  return true;
}
bool other_type(ir::Graph& g) { return g.outputs[0] = g.make("Cast", {g.outputs[0]}, {{"to", std::string("f16")}}), true; }

TEST(Manager, AReplacementOfAnotherTypeIsCaughtInEveryBuild) {
  ::unsetenv("TENFOLD_CHECK_TYPES");
  for (const auto& [pass, message] : std::vector<std::pair<Pass, std::string>>{
           {{"other_shape", other_shape}, "(Tanh): 't' is f32[2,8,16], what is put in its place is f32[2,16]"},
           {{"other_type", other_type}, "is f16[2,8,16], it was f32[2,8,16]"}}) {
    ir::Graph g = graph();
    try {
      run(g, {pass});
      FAIL() << pass.name << " was not caught";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::internal);
      const std::string text = e.what();
      EXPECT_NE(text.find("pass '" + pass.name + "': "), std::string::npos) << text;
      EXPECT_NE(text.find(message), std::string::npos) << text;
      EXPECT_NE(text.find("--disablePasses=" + pass.name), std::string::npos) << text;
    }
  }
}

TEST(Manager, APassThatBreaksTheGraphIsCaughtAndNamed) {
  ::setenv("TENFOLD_CHECK_TYPES", "1", 1);
  for (const Pass& pass : {Pass{"lost_user", lost_user}, Pass{"wrong_body", wrong_body}, Pass{"stale_type", stale_type}}) {
    ir::Graph g = graph();
    try {
      run(g, {pass});
      FAIL() << pass.name << " was not caught";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("pass '" + pass.name + "'"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace tenfold::passes
