// Which operators GPUs compute: for every operator a typical node (the first of its cases; any of them, if only our passes make it) must
// become, on every architecture, steps that some tactic of our own takes, after the passes that a build for a GPU runs; or
// the operator says why the host computes it (OpDef::on_host).
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "backends/tactic.h"
#include "ir/text.h"
#include "onnx_ops/table.h"
#include "ops/cases.h"
#include "passes/pipeline.h"
#include "tune/choice/node_problem.h"

namespace tenfold::backends {
std::vector<Tactic> cuda_tactics();
}

namespace tenfold {
namespace {

constexpr int kArchitectures[] = {75, 80, 86, 89, 90, 100, 120};

// What only moves no bytes: views, and shape arithmetic that inference does.
bool is_view(const ir::Node& n) {
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Shape", "Size", "Constant"})
    if (n.op() == op) return true;
  return false;
}

class Taker {
 public:
  explicit Taker(int arch) {
    device_.kind = "cuda", device_.arch = arch, device_.ordinal = -arch;
    for (const backends::Tactic& t : backends::cuda_tactics())
      if (t.source == backends::Source::native) tactics_.push_back(t);
  }
  // Why what takes an element for each thread does not take the only node of a graph whose symbols are in [1, 64]; empty if it does.
  std::string refusal_of(const std::string& tactic, const std::string& text) const {
    const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin());
    const ir::SymbolBounds box{{"h", {1, 64}}, {"n", {1, 64}}};
    for (const backends::Tactic& t : tactics_)
      if (t.name == tactic)
        return t.supports(tune::node_problem(*graph.nodes().front(), nullptr, box, device_, std::int64_t{1} << 40)).reason;
    return "there is no such tactic";
  }
  // Empty: every node of the case's graph is taken. Else the first that is not, and what its tactics say.
  std::string refusal(const ir::OpDef& op, const std::string& text) const {
    ir::Graph graph = ops::case_graph(ir::Registry::builtin(), op, ops::parse_case(op, text));
    passes::run(graph, passes::pipeline_for(device_, {}).in_order());
    for (const auto& n : graph.nodes())
      if (!is_view(*n)) {
        std::string why = node_refusal(*n);
        if (!why.empty()) return why;
      }
    return "";
  }

 private:
  std::string node_refusal(const ir::Node& n) const {
    std::string why = n.op() + ":";
    static const ir::SymbolBounds box;
    backends::Problem p;
    try {
      p = tune::node_problem(n, nullptr, box, device_, std::int64_t{1} << 40);
    } catch (const Error& e) {
      return cat(why, " ", e.what());
    }
    for (const backends::Tactic& t : tactics_) {
      if (!t.computes(*n.def)) continue;
      const backends::Formats plain{std::vector<backends::Layout>(p.in.size()), std::vector<backends::Layout>(p.out.size())};
      std::string reason;
      for (const backends::Formats& f : t.formats ? t.formats(p) : std::vector<backends::Formats>{plain}) {
        const backends::Verdict v = t.supports(tune::node_problem(n, &f, box, device_, std::int64_t{1} << 40));
        if (v) return "";
        reason = v.reason;
      }
      why += cat(" ", t.name, " (", reason, ")");
    }
    return why;
  }
  backends::DeviceInfo device_;
  std::vector<backends::Tactic> tactics_;
};

TEST(GpuOperators, EveryOperatorHasAKernelForEveryArchitecture) {
  std::set<std::string> written;   // operators that models have under the same name
  for (const onnx_ops::OnnxOp& op : onnx_ops::builtin()) written.insert(op.name);
  for (int arch : kArchitectures) {
    const Taker taker(arch);
    int taken = 0, refused = 0;
    for (const ir::OpDef* op : ir::Registry::builtin().all()) {
      if (op->cases.empty()) continue;
      std::string all;
      const bool internal = op->onnx_since == 0 && !written.contains(op->name);
      bool typical = !internal;
      for (const std::string& text : op->cases) {
        const std::string why = taker.refusal(*op, text);
        (why.empty() ? taken : refused)++;
        if (!why.empty()) all += cat("\n    ", text, "  ->  ", why);
        if (internal ? why.empty() : &text == &op->cases.front()) typical = why.empty();
      }
      if (std::getenv("TENFOLD_TELL") && arch == 90 && !all.empty()) std::cerr << op->name << all << "\n";
      if (op->name.ends_with("Float8") && arch < 89) continue;   // only made where the device multiplies 8-bit floats,
      if (op->name == "NormMatMulBlockScaled" && arch < 80) continue;   // or takes narrow weights
      EXPECT_EQ(typical, op->on_host.empty())
          << op->name << " on sm_" << arch << (typical ? " has a kernel, and yet says why it has none: " + op->on_host : ": " + all);
    }
    if (std::getenv("TENFOLD_TELL")) std::cerr << "sm_" << arch << ": " << taken << " cases taken, " << refused << " on the host\n";
  }
}

// A kernel with pads of nought would give wrong results without a word.
TEST(GpuOperators, PadsThatDependOnTheRunAreNotTakenForNought) {
  const Taker taker(90);
  const struct { const char *tactic, *text; } cases[] = {
      {"conv_elements", "(x f32[n,2,h,9], w f32[3,2,3,3])\n y = Conv(x, w)"},
      {"conv_integer_elements", "(x u8[n,2,h,9], w i8[3,2,3,3])\n y = ConvInteger(x, w)"},
      {"conv_transpose_elements", "(x f32[n,2,h,9], w f32[2,3,3,3])\n y = ConvTranspose(x, w)"},
      {"lp_pool_elements", "(x f32[n,2,h,9])\n y = LpPool(x) kernel_shape=[3,3]"},
  };
  const std::string unknown = "pads depend on the run's extents";
  for (const auto& c : cases) {
    const std::string plain = cat(c.text, " strides=[2,2]");
    EXPECT_EQ(taker.refusal_of(c.tactic, plain), "") << plain;
    EXPECT_EQ(taker.refusal_of(c.tactic, cat(plain, " pads=[1,1,1,1]")), "") << plain;
    EXPECT_EQ(taker.refusal_of(c.tactic, cat(plain, " auto_pad=\"VALID\"")), "") << plain;
    EXPECT_EQ(taker.refusal_of(c.tactic, cat(plain, " auto_pad=\"SAME_UPPER\"")), c.tactic == cases[2].tactic ? "" : unknown) << plain;
  }
  const std::string transpose = cases[2].text;
  EXPECT_EQ(taker.refusal_of("conv_transpose_elements", transpose + " strides=[2,2] output_shape=[30,19]"), unknown);
  EXPECT_EQ(taker.refusal_of("conv_transpose_elements", transpose + " strides=[5,5] auto_pad=\"SAME_UPPER\""), "");
}

// Threads in turn: as many as fit into a moment, and no more.
TEST(GpuOperators, GridsAndThreadsHaveLimits) {
  const Taker taker(80);
  EXPECT_EQ(taker.refusal_of("scatter_nd_lanes", "(x f32[9,4], i i64[65536,1], u f32[65536,4])\n y = ScatterND(x, i, u) reduction=\"add\""),
            "");
  EXPECT_NE(taker.refusal_of("scatter_nd_lanes", "(x f32[9,4], i i64[65537,1], u f32[65537,4])\n y = ScatterND(x, i, u) reduction=\"add\""),
            "");
}

}  // namespace
}  // namespace tenfold
