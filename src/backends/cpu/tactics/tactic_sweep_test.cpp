// Every case of every operator through the tactics on rows, blocks and movement, in every layout they offer, against the reference.
#include <cmath>
#include <set>

#include "backends/backend.h"
#include "backends/cpu/tactics/tactic_check.h"

namespace tenfold::backends {
namespace {

using testing::TacticRun;

// Tactics that this sweep is for: products and convolutions have tests of their own.
bool is_swept(const Tactic& t) { return t.source == Source::native && t.op != "*" && (!t.packed_bytes || t.op == "LSTM" || t.op == "GRU"); }

void expect_agrees(const Tensor& got, const Tensor& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  ASSERT_EQ(got.shape(), want.shape()) << what;
  double largest = 1e-30;
  for (std::int64_t i = 0; i < want.size(); ++i)
    if (std::isfinite(want.as_double(i))) largest = std::max(largest, std::fabs(want.as_double(i)));
  const double allowed = is_float(want.dtype()) ? std::max(tolerance, want.dtype() == DType::f16    ? 2e-3
                                                                      : want.dtype() == DType::bf16 ? 1.6e-2
                                                                                                    : 0) *
                                                      largest
                                                : 0;
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const double g = got.as_double(i), w = want.as_double(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    ASSERT_LE(std::fabs(g - w), allowed) << what << " element " << i << ": " << g << " instead of " << w;
  }
}

void sweep_case(const Backend& backend, const ir::OpDef& op, const std::string& text, std::map<std::string, int>& runs) {
  const ops::Case c = ops::parse_case(op, text);
  const ir::Graph graph = ops::case_graph(ir::Registry::builtin(), op, c);
  if (graph.nodes().size() != 1) return;
  std::vector<Tensor> operands;
  std::vector<ops::RuntimeValue> values;  // nothing where an operand is left out
  for (const ops::CaseOperand& o : c.operands) {
    operands.push_back(o.data);
    values.push_back(o.missing ? ops::RuntimeValue{} : ops::RuntimeValue{o.data});
  }
  std::vector<Tensor> want;
  for (const Tactic* tactic : tactics_for(backend, op)) {
    if (!is_swept(*tactic)) continue;
    TacticRun run(*tactic, graph, backend.info().features);
    run.problem.device = &backend.info();
    const std::vector<Formats> all =
        tactic->formats ? tactic->formats(run.problem)
                        : std::vector<Formats>{{std::vector<Layout>(run.problem.in.size()), std::vector<Layout>(run.problem.out.size())}};
    for (const Formats& formats : all) {
      run.use(formats);
      if (!tactic->supports(run.problem)) continue;
      if (want.empty())
        for (const ops::RuntimeValue& v : ops::run_node(*graph.nodes().front(), values)) want.push_back(std::get<Tensor>(v));
      for (const Config& config : tactic->configs(run.problem)) {
        Serial serial;
        testing::Backwards backwards;
        const std::vector<Tensor> got = run.run(config, operands, serial), again = run.run(config, operands, backwards);
        for (std::size_t i = 0; i < got.size(); ++i) {
          if (run.problem.out[i].missing) continue;
          const std::string what = cat(tactic->name, " on ", run.problem.line());
          expect_agrees(got[i], want[i], op.tolerance, what);
          EXPECT_EQ(std::memcmp(got[i].raw(), again[i].raw(), static_cast<std::size_t>(got[i].bytes())), 0)
              << what << " depends on the workers";
        }
        ++runs[tactic->name];
      }
    }
  }
}

// Larger problems than the operators' own cases: several parts, blocks of keys, long rows, tails, packed weights.
constexpr std::pair<const char*, const char*> kLarger[] = {
    {"FusedAttention", "f32[1,2,197,64] f32[1,2,197,64] f32[1,2,197,64] scale=0.125"},
    {"FusedAttention", "f32[1,3,128,32] f32[1,3,300,32] f32[1,3,300,40] f32[1,1,128,300](-9,0) scale=0.17"},
    {"FusedAttention", "f32[1,2,150,24] f32[1,2,150,24] f32[1,2,150,24] causal=1 scale=0.2"},
    {"FusedAttention", "f32[1,1,130,17] f32[1,1,131,17] f32[1,1,131,7] f32[1,1,130,1](-9,0) scale=0.2"},
    {"LayerNormalization", "f32[3,130,384] f32[384] f32[384]"},
    {"LayerNormalization", "f32[7,1003] f32[1003] f32[1003]"},
    {"RMSNormalization", "f32[7,1003] f32[1003]"},
    {"Softmax", "f32[37,1003](-30,30)"},
    {"Softmax", "f32[3,70,203](-30,30) axis=1"},
    {"LogSoftmax", "f32[37,1003](-30,30)"},
    {"LogSoftmax", "f32[3,70,203](-30,30) axis=1"},
    {"Add", "f32[4,70,301] f32[70,1]"},
    {"Mul", "f32[2,33,70,5] f32[33,1,1]"},
    {"Gelu", "f32[3,50000](-9,9)"},
    {"Add", "f32[100000] f32[100000]"},
    {"MaxPool", "f32[2,20,33,29] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]"},
    {"MaxPool", "u8[1,40,17,18] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]"},
    {"AveragePool", "f32[2,20,33,29] kernel_shape=[3,2] strides=[1,3] pads=[1,0,1,1] count_include_pad=1"},
    {"MaxPool", "f32[1,5,12,13,14] kernel_shape=[2,2,2] strides=[2,2,2]"},
    {"GlobalAveragePool", "f32[2,70,9,11]"},
    {"ReduceMean", "f32[3,70,300] axes=[1] keepdims=0"},
    {"ReduceSum", "f32[3,70,300] axes=[0,2]"},
    {"ReduceMax", "f32[3,70,300] axes=[2]"},
    {"ReduceL2", "f32[3,7,30,5] axes=[0,2] keepdims=0"},
    {"ReduceSum", "f32[5000]"},
    {"Transpose", "f32[3,70,301] perm=[0,2,1]"},
    {"Transpose", "u8[3,70,301] perm=[2,0,1]"},
    {"Transpose", "f32[2,5,12,32] perm=[0,2,1,3]"},
    {"Reformat", "f32[2,35,20,21]"},
    {"Reformat", "u8[2,35,20,21]"},
    {"Concat", "f32[2,35,20,21] f32[2,3,20,21] axis=1"},
    {"Slice", "f32[9,40,33] i64[2]{7,-2} i64[2]{1,-30} i64[2]{0,2} i64[2]{-2,-3}"},
    {"Expand", "f32[70,1,33] i64[4]{3,70,20,33}"},
    {"Pad", "f32[2,20,30] i64[6]{0,1,2,3,-1,4} f32[]{2}"},
    {"Gather", "f32[100,70] i64[40,11](-100,99)"},
    {"Split", "f32[3,70,31] axis=1 outputs=2"},
    {"InstanceNormalization", "f32[2,5,33,29] f32[5] f32[5]"},
    {"GroupNormalization", "f32[2,12,33,29] f32[12] f32[12] num_groups=4"},
    {"AveragePool", "f32[1,3,5,40] kernel_shape=[3,5] strides=[1,2] pads=[1,2,1,2]"},
    {"AveragePool", "f32[1,3,5,4] kernel_shape=[3,5] pads=[1,4,1,4]"},
    {"HardSwish", "f32[3,500](-9,9)"},
    {"Pow", "f32[3,500](-9,9) f32[]{2}"},
    {"TopK", "f32[3,1000] i64[1]{20}"},
    {"TopK", "f32[3,200,7] i64[1]{9} axis=1 largest=0"},
    {"LSTM", "f32[7,4,30] f32[1,160,30]! f32[1,160,40]! f32[1,320] outputs=3"},
    {"LSTM", "f32[5,1,30] f32[2,20,30]! f32[2,20,5]! f32[2,40]! _ f32[2,1,5] f32[2,1,5] direction=\"bidirectional\" outputs=3"},
    {"LSTM", "f32[2,5,3] f32[1,20,3]! f32[1,20,5]! layout=1 direction=\"reverse\" outputs=3"},
    {"GRU", "f32[7,4,30] f32[1,120,30]! f32[1,120,40]! f32[1,240] outputs=2"},
    {"GRU", "f32[5,2,30] f32[2,15,30]! f32[2,15,5]! f32[2,30]! _ f32[2,2,5] direction=\"bidirectional\" linear_before_reset=1 outputs=2"},
    {"Resize", "f32[2,19,13,17] _ _ i64[4]{2,19,29,40} mode=\"linear\""},
    {"Resize", "f32[1,5,6,7,8] _ f32[5]{1,1,2,2,2} mode=\"linear\" coordinate_transformation_mode=\"align_corners\""},
    {"Resize", "f32[1,19,13,17] _ f32[4]{1,1,2,2} coordinate_transformation_mode=\"asymmetric\" nearest_mode=\"floor\""},
    {"Where", "bool[3,40,50] f32[50] f32[3,1,50]"},
};

TEST(TacticSweep, EveryCaseAgreesWithTheReference) {
  const std::shared_ptr<Backend> backend = open_backend("cpu");
  std::map<std::string, int> runs;
  for (const ir::OpDef* op : ir::Registry::builtin().all())
    for (const std::string& text : op->cases) {
      SCOPED_TRACE(cat(op->name, " ", text));
      ASSERT_NO_THROW(sweep_case(*backend, *op, text, runs));
    }
  for (const auto& [op, text] : kLarger) {
    SCOPED_TRACE(cat(op, " ", text));
    ASSERT_NO_THROW(sweep_case(*backend, ir::Registry::builtin().get(op), text, runs));
  }
  for (const Tactic& tactic : backend->tactics())
    if (is_swept(tactic)) {
      EXPECT_GT(runs[tactic.name], 0) << tactic.name << " was never run: give its operator a case that it supports";
    }
  EXPECT_GT(runs["region_blocks"], 100);
}

}  // namespace
}  // namespace tenfold::backends
