// Grouped and transposed convolutions computed on the CPU the way that kernels do, from the same packed weights, phases and windows,
// beside the operators' reference kernels.
#include "backends/cuda/tactics/conv/conv_weights_common.h"

#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_gemm_common.h"
#include "backends/tactic_cases_for_tests.h"
#include "backends/tactic_for_tests.h"
#include "base/check.h"
#include "ir/op_def.h"

#include <numeric>

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;
using Three = std::array<int64_t, 3>;

Three split(int64_t i, const Three& extents) { return {i / (extents[1] * extents[2]), i / extents[2] % extents[1], i % extents[2]}; }

// Tells of the elements of a channels-last image [images, extents, channels].
struct Image {
  Tensor data;
  Three extents;
  int64_t channels;
  double at(int64_t image, const Three& place, int64_t channel) const {
    for (std::size_t d = 0; d < 3; ++d)
      if (place[d] < 0 || place[d] >= extents[d]) return 0;
    return data.as_double((((image * extents[0] + place[0]) * extents[1] + place[1]) * extents[2] + place[2]) * channels + channel);
  }
};

// The sum of a result; `taps`, `begin`: the window of its phase.
double sum_of(const GemmProblem& g, const Image& x, const Tensor& w, int64_t row, int64_t group, int64_t image, const Three& position,
              const Three& taps, const Three& begin) {
  double sum = 0;
  for (int64_t k = 0; k < taps[0] * taps[1] * taps[2] * g.channels; ++k) {
    const Three tap = split(k / g.channels, taps);
    Three place;
    for (std::size_t d = 0; d < 3; ++d) place[d] = position[d] * g.stride[d] - begin[d] + tap[d] * g.dilation[d];
    sum += x.at(image, place, group * g.channels + k % g.channels) * w.as_double(row * g.k + k);
  }
  return sum;
}

void compare(const std::string& op_name, const std::string& text, int& compared) {
  const ir::OpDef& op = ir::Registry::builtin().get(op_name);
  const ops::Case c = ops::parse_case(op, text);
  const ir::Graph graph = ops::case_graph(ir::Registry::builtin(), op, c);
  const Tactic none{.name = "none", .ops = {op.name}};
  testing::TacticRun run(none, graph, 0);
  run.device.kind = "cuda", run.device.arch = 90;
  Problem& p = run.problem;
  p.in[0].layout = p.out[0].layout = kChannelsLast;
  FusedGemm fused;
  const Verdict v = op_name == "ConvTranspose" ? read_conv_transpose(p, fused) : read_conv(p, fused, F32::none, true);
  const GemmProblem& g = fused.gemm;
  if (!v || g.in == DType::i8 || g.spreads) return;
  ++compared;
  const WeightOrder order = weight_order(p, g);
  Tensor packed(p.in[1].dtype, {order.elements()});
  pack_weights(p, order, c.operands[1].data.raw(), packed.mutable_raw());
  const Shape shape = c.operands[0].data.shape();
  const Image x{testing::relaid(c.operands[0].data, kChannelsLast, shape), g.in_extent, shape[1]};
  std::vector<ops::RuntimeValue> operands;
  for (const ops::CaseOperand& o : c.operands) operands.push_back(o.data);
  const auto expected = std::get<Tensor>(ops::run_node(*graph.nodes().front(), operands)[0]);
  const Three results = g.has_phases() ? g.result_extent : g.out_extent;
  Three steps{1, 1, 1};
  for (std::size_t d = 0; d < 3 && g.has_phases(); ++d) steps[d] = std::ssize(g.phases[d]);
  const int64_t size = results[0] * results[1] * results[2], width = g.width();
  for (int64_t i = 0; i < expected.size(); ++i) {
    const int64_t image = i / size / width, channel = i / size % width, group = channel / g.n;
    const Three at = split(i % size, results);
    Three position = at, taps = g.kernel, begin = g.begin;
    int64_t phase = 0;
    for (std::size_t d = 0; d < 3 && g.has_phases(); ++d) {
      const GemmProblem::Phase& own = g.phases[d][static_cast<std::size_t>(at[d] % steps[d])];
      position[d] = at[d] / steps[d], taps[d] = own.taps, begin[d] = own.begin, phase = phase * steps[d] + at[d] % steps[d];
    }
    const int64_t row = (phase * g.groups + group) * g.n + channel % g.n;
    double sum = sum_of(g, x, packed, row, group, image, position, taps, begin);
    if (c.operands.size() > 2 && !c.operands[2].missing) sum += c.operands[2].data.as_double(channel);
    const double is = expected.as_double(i);
    ASSERT_NEAR(sum, is, 0.01 * (1 + std::abs(is))) << op_name << " " << text << " at " << i;
  }
}

TEST(CudaConvWeights, WindowsAndPackedWeightsGiveTheReferencesResults) {
  int compared = 0;
  for (const Tactic& tactic : cuda_tactics())
    for (const char* text : tactic.cases) {
      const testing::TacticCase c = testing::tactic_case(text);
      const bool transposed = c.op->name == "ConvTranspose", groups = c.text.find("group") != std::string::npos;
      const bool fits = transposed || (c.op->name == "Conv" && groups);
      if (fits && c.text.find("round_to") == std::string::npos) compare(c.op->name, c.text, compared);
    }
  EXPECT_GE(compared, 14);
}

TEST(CudaConvWeights, PlainOnesLieByFilterTapAndChannelAndComeBack) {
  Problem p;
  p.in = {OperandDesc{.dtype = DType::f16}, OperandDesc{.dtype = DType::f16, .dims = {2, 3, 1, 2}}};
  Tensor weights(DType::f16, {2, 3, 1, 2}), packed(DType::f16, {12});
  auto* plain = weights.mutable_data<std::uint16_t>();
  std::iota(plain, plain + 12, std::uint16_t{0});
  const Tensor* constants[] = {nullptr, &weights};
  pack_conv_weight(p, {}, 1, constants, packed.mutable_raw());
  const auto* last = packed.data<std::uint16_t>();
  for (int filter = 0; filter < 2; ++filter)
    for (int tap = 0; tap < 2; ++tap)
      for (int channel = 0; channel < 3; ++channel)
        EXPECT_EQ(last[(filter * 2 + tap) * 3 + channel], plain[(filter * 3 + channel) * 2 + tap]);
  const Tensor back = unpack_conv_weight(p, {}, 1, packed.raw());
  EXPECT_TRUE(std::equal(plain, plain + 12, back.data<std::uint16_t>()));
}

}  // namespace
}  // namespace tenfold::backends::cuda
