// Plans for a GPU of models whose weights have 4 or 8 bits, on the fake driver: products and tables keep them as they are, in plans, too,
// and no step is the host's.
#include <map>

#include "on_a_fake_gpu.h"
#include "plan/plan.h"

namespace tenfold {
namespace {

class NarrowOnGpu : public tests::FakeGpu {
 protected:
  plan::Plan plan(const std::string& text, bool fp16, bool tf32 = true, std::vector<OptimizationProfile> profiles = {}) {
    const ir::Graph graph =
        ir::parse_graph(text, ir::Registry::builtin(),
                        {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
    BuildConfig config;
    config.threads = 1, config.optimization_level = 0, config.profiles = std::move(profiles), config.fp16 = fp16, config.tf32 = tf32;
    config.check_overflow = false, config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
    BuildReport report;
    return builder::build_plan(graph, config, "", backend_, report);
  }
  static std::map<std::string, int> tactics(const plan::Plan& plan) {
    std::map<std::string, int> count;
    for (const plan::Step& step : plan.programs.at(0).steps) ++count[step.tactic];
    return count;
  }
};

// As MatMulNBits is imported: blocks along k, scales in the model's type.
TEST_F(NarrowOnGpu, ProductsReadWeightsAsTheyAre) {
  const auto model = [](int rows, const char* type) {
    return cat("(x ", type, "[", rows, ",512], w u4[512,256]!, s ", type, "[4,256]!, z u4[4,256]!)\n",
               " d = DequantizeLinear(w, s, z) axis=0 block_size=128\n y = MatMul(x, d)");
  };
  constexpr std::int64_t kNarrow = 512 * 256 / 2 + 4 * 256 * 5;   // words, scales, bytes of zero points
  for (const char* type : {"f32", "f16", "bf16"})
    for (const bool fp16 : {false, true})
      for (const int rows : {1, 16, 200}) {
        SCOPED_TRACE(cat(type, fp16 ? " with fp16, " : ", ", rows, " rows"));
        const plan::Plan made = plan(model(rows, type), fp16);
        const auto count = tactics(made);
        EXPECT_EQ(count.contains("matmul_block_scaled_few") + count.contains("matmul_block_scaled_many"), 1);
        EXPECT_LE(made.weights_bytes, kNarrow + 256);
        for (const plan::Step& step : made.programs.at(0).steps) EXPECT_NE(step.op, "DequantizeLinear");
      }
}

// Few rows and many rows have kernels of their own, and one packing.
TEST_F(NarrowOnGpu, StepsAndPromptsShareTheWeights) {
  const auto rows = [](std::int64_t from, std::int64_t to) { return OptimizationProfile{{"x", {{from, 512}, {to, 512}, {to, 512}}}}; };
  const plan::Plan made = plan("(x f16[n,512], w i4[512,256]!, s f16[4,256]!)\n d = DequantizeLinear(w, s) axis=0 block_size=128\n"
                               " y = MatMul(x, d)", true, true, {rows(1, 1), rows(2, 400)});
  ASSERT_EQ(made.programs.size(), 2u);
  EXPECT_EQ(made.programs[0].steps.at(0).tactic, "matmul_block_scaled_few");
  EXPECT_EQ(made.programs[1].steps.at(0).tactic, "matmul_block_scaled_many");
  EXPECT_LE(made.weights_bytes, 512 * 256 / 2 + 4 * 256 * 4 + 256);
}

// Where f32 may not be rounded, weights become floats, as they do for older GPUs.
TEST_F(NarrowOnGpu, ExactProductsReadFloats) {
  const plan::Plan made = plan("(x f32[1,64], w i4[64,32]!, s f32[4,32]!)\n d = DequantizeLinear(w, s) axis=0 block_size=16\n"
                               " y = MatMul(x, d)", false, false);
  EXPECT_GE(made.weights_bytes, 64 * 32 * 4);
}

// As GatherBlockQuantized is imported: rows are gathered, then dequantized.
TEST_F(NarrowOnGpu, TablesStayNarrow) {
  const plan::Plan made = plan("(i i64[3], t u4[1000,64]!, s f16[1000,2]!, z u4[1000,2]!)\n g = Gather(t, i)\n h = Gather(s, i)\n"
                               " k = Gather(z, i)\n d = DequantizeLinear(g, h, k) axis=1 block_size=32\n y = Relu(d)", true);
  const auto count = tactics(made);
  EXPECT_EQ(count.at("gather_pieces"), 3);
  EXPECT_EQ(count.at("dequantize_linear_elements"), 1);
  EXPECT_LE(made.weights_bytes, 1000 * (32 + 2 * 4 + 1) + 256);
}

}  // namespace
}  // namespace tenfold
