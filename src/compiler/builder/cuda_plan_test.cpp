// Planning for a GPU that is not there: kernels are compiled, nothing runs. No step of a common network may fall to the host.
#include <gtest/gtest.h>

#include "backends/cuda/device/compiler.h"
#include "builder/paper_gpu_for_tests.h"
#include "runtime/engine/refit.h"

namespace tenfold {
namespace {

using builder::testing::host_steps;
using builder::testing::PaperGpu;
using builder::testing::parse;
using builder::testing::plan_of;

constexpr const char* kEncoder =
    R"((ids i64[batch,16], t f32[50,64]!, g f32[64]!, b f32[64]!, w f32[64,192]!, c f32[192]!, o f32[64,64]!, p f32[64]!)
    heads = i64[5]{0,16,3,4,16}
    flat = i64[3]{0,16,64}
    x = Gather(t, ids) axis=0
    n = LayerNormalization(x, g, b) axis=-1
    m = MatMul(n, w)
    q = Add(m, c)
    s = Softmax(q) axis=-1
    r, u, v = Split(s) axis=2
    e = MatMul(r, o)
    f = Add(e, p)
    h = Add(f, n)
    z = Gelu(h)
    y = ReduceMean(z) axes=[1] keepdims=0)";

TEST(CudaPlan, AnEncoderStaysOnTheGpu) {
  BuildConfig config;
  config.fp16 = true;
  config.profiles = {{{"ids", {{1, 16}, {4, 16}, {8, 16}}}}};
  const plan::Plan plan = plan_of(kEncoder, config);
  EXPECT_EQ(host_steps(plan), 0);
  int halves = 0;
  for (const plan::Step& s : plan.programs[0].steps)
    if (s.op == "MatMul") halves += s.in[0].dtype == DType::f16;
  EXPECT_EQ(halves, 2);
}

// In f32, where no tensor core multiplies, and with products of two activations, which batches, widths and terms of no known extent have.
TEST(CudaPlan, ProductsOfFloatsStayOnTheGpu) {
  for (const bool tf32 : {false, true}) {
    BuildConfig config;
    config.tf32 = tf32;
    config.profiles = {{{"ids", {{1, 16}, {4, 16}, {8, 16}}}}};
    EXPECT_EQ(host_steps(plan_of(kEncoder, config)), 0);
    config.profiles = {{{"q", {{1, 4, 7, 16}, {2, 4, 30, 16}, {3, 4, 99, 16}}}, {"k", {{1, 1, 16, 5}, {2, 1, 16, 40}, {3, 1, 16, 80}}}}};
    for (const char* type : {"f32", "f16", "bf16"}) {
      std::string text = R"((q T[b,4,m,16], k T[b,1,16,n], w T[4,16,8]!)
        s = MatMul(q, k)
        r = Relu(s)
        t = Transpose(k) perm=[0,1,3,2]
        o = MatMul(r, t)
        y = MatMul(o, w))";
      for (std::size_t at; (at = text.find('T')) != std::string::npos && text[at + 1] == '[';) text.replace(at, 1, type);
      EXPECT_EQ(host_steps(plan_of(text.c_str(), config)), 0) << type;
    }
  }
  BuildConfig config;
  const plan::Plan gemm = plan_of(R"((x f16[20,9], w f16[20,11]!, c f16[11]!)
    a = Relu(x)
    g = Gemm(a, w, c) transA=1
    y = Relu(g))", config);
  EXPECT_EQ(host_steps(gemm), 0);
}

TEST(CudaPlan, NormsAreComputedByTheirReadersWhereThatTakesLessTime) {
  BuildConfig config;
  config.fp16 = true;
  int deferred = 0, kept = 0;
  for (std::uint64_t choices = 1; choices < 9; ++choices) {  // random times: sometimes one form wins, sometimes the other
    const plan::Plan plan = plan_of(R"((x f32[2048,64], w f32[64,96]!, c f32[96]!, g f32[96]!, b f32[96]!, u f32[96,96]!, v f32[96,96]!)
      r = Relu(x)
      m = MatMul(r, w)
      q = Add(m, c)
      n = LayerNormalization(q, g, b) axis=-1
      t = MatMul(n, u)
      e = Gelu(t)
      d = MatMul(e, v)
      s = Add(d, n)
      z = LayerNormalization(s, g, b) axis=-1
      y = Exp(z))",
                                    config, choices);
    EXPECT_EQ(host_steps(plan), 0);
    const auto& steps = plan.programs[0].steps;
    const auto norms = std::count_if(steps.begin(), steps.end(), [](const plan::Step& s) { return s.op == "GemmRowStats"; });
    EXPECT_TRUE(norms == 0 || norms == 2) << norms;
    ++(norms > 0 ? deferred : kept);
  }
  EXPECT_GT(deferred, 0);
  EXPECT_GT(kept, 0);
}

TEST(CudaPlan, NormsOfFewRowsAreComputedByTheNextProductWhereThatTakesLessTime) {
  int read = 0, kept = 0;
  for (std::uint64_t choices = 1; choices < 60 && (read == 0 || kept == 0); ++choices) {   // random times
    BuildConfig config;
    config.fp16 = true;
    config.profiles = {{{"x", {{1, 16, 64}, {1, 128, 64}, {1, 128, 64}}}}};
    const plan::Plan plan = plan_of(R"((x f32[1,rows,64], w f32[64,96]!, c f32[96]!, g f32[96]!, b f32[96]!, u f32[96,96]!, v f32[96,96]!)
      r = Relu(x)
      m = MatMul(r, w)
      q = Add(m, c)
      n = LayerNormalization(q, g, b) axis=-1
      t = MatMul(n, u)
      e = Gelu(t)
      d = MatMul(e, v)
      s = Add(d, n)
      z = LayerNormalization(s, g, b) axis=-1
      y = Exp(z))",
                                    config, choices);
    EXPECT_EQ(host_steps(plan), 0);
    const auto& steps = plan.programs[0].steps;
    const auto norms = std::count_if(steps.begin(), steps.end(), [](const plan::Step& s) { return s.op == "NormGemm"; });
    EXPECT_LE(norms, 1);
    ++(norms > 0 ? read : kept);
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(kept, 0);
}

TEST(CudaPlan, NormsOfProductsAreTakenApartWhereNoKernelHoldsARow) {
  for (const std::int64_t batch : {4, 64}) {  // 64 rows; 1024, enough for a kernel with the norm
    BuildConfig config;
    config.fp16 = true;
    config.profiles = {{{"x", {{batch, 16, 64}, {batch, 16, 64}, {batch, 16, 64}}}}};
    const plan::Plan plan = plan_of(R"((x f32[batch,16,64], w f32[64,128]!, c f32[128]!, g f32[128]!, b f32[128]!)
      first = i64[]{0}
      r = Relu(x)
      m = MatMul(r, w)
      q = Add(m, c)
      n = LayerNormalization(q, g, b) axis=-1
      y = Gather(n, first) axis=1
      z = Exp(q)
      return y, z)",
                                    config);
    EXPECT_EQ(host_steps(plan), 0);
    for (const plan::Step& s : plan.programs[0].steps)
      if (batch == 4) {
        EXPECT_NE(s.op, "GemmLayerNorm");
      }
  }
}

// Rows of which data decide how many there are have no bound: norms of them, and what follows, stay on the GPU.
TEST(CudaPlan, NormsOfAsManyRowsAsDataSayStayOnTheGpu) {
  const plan::Plan plan = plan_of(R"((row f32[1,64], to i64[2], w f32[64], b f32[64])
    x = Expand(row, to)
    n = LayerNormalization(x, w, b)
    y = Tanh(n))", {});
  const auto& steps = plan.programs[0].steps;
  const auto region = std::find_if(steps.begin(), steps.end(), [](const plan::Step& s) { return s.op == "Region"; });
  ASSERT_NE(region, steps.end());
  EXPECT_EQ(region->tactic, "region_rows");
}

// Permission to round follows a product of f32 through whatever it becomes: a norm's, and again a product of its own.
TEST(CudaPlan, GemmsKeepThePermissionToRound) {
  for (const bool tf32 : {false, true}) {
    BuildConfig config;
    config.tf32 = tf32;
    const plan::Plan plan = plan_of(R"((x f32[64,64], w f32[64,128]!, c f32[128]!, g f32[128]!, b f32[128]!, u f32[128,96]!,
      p f32[1,8,4,4], q f32[8,6,2,2]!)
      m = MatMul(x, w)
      a = Add(m, c)
      n = LayerNormalization(a, g, b) axis=-1
      y = MatMul(n, u)
      z = ConvTranspose(p, q) strides=[2,2]
      return y, z)",
                                    config);
    int products = 0, rounded = 0;
    for (const plan::Step& s : plan.programs[0].steps) {
      if (s.op != "MatMul" && s.op != "Conv" && s.op != "GemmLayerNorm") continue;
      ++products, rounded += s.numerics.round_to == ir::Rounding::tf32;
    }
    EXPECT_EQ(products, 3);
    EXPECT_EQ(rounded, tf32 ? 3 : 0);
  }
}

TEST(CudaPlan, AConvolutionNetworkStaysOnTheGpu) {
  for (const bool half : {false, true}) {
    BuildConfig config;
    config.fp16 = half;
    config.profiles = {{{"x", {{2, 3, 32, 32}, {2, 3, 32, 32}, {2, 3, 32, 32}}}}};
    const plan::Plan plan = plan_of(R"((x f32[batch,3,32,32], w f32[16,3,3,3]!, b f32[16]!, v f32[16,16,3,3]!)
    a = Conv(x, w, b) pads=[1,1,1,1]
    c = Relu(a)
    d = MaxPool(c) kernel_shape=[2,2] strides=[2,2]
    e = Conv(d, v) pads=[1,1,1,1]
    f = Add(e, d)
    g = Relu(f)
    y = GlobalAveragePool(g))",
                                    config);
    EXPECT_EQ(host_steps(plan), 0) << (half ? "fp16" : "fp32");
  }
}

// What goes up and what skips over are written side by side wherever the concatenation is channels-last, as some choices make it.
TEST(CudaPlan, AStepUpWritesIntoTheConcatenation) {
  BuildConfig config;
  config.fp16 = true;
  int in_place = 0;
  for (std::uint64_t choices = 1; choices <= 20; ++choices) {
    const plan::Plan plan = plan_of(R"((x f32[1,16,16,16], w f32[32,16,3,3]!, v f32[64,32,3,3]!, t f32[64,32,2,2]!, u f32[32,64,3,3]!)
      a = Conv(x, w) pads=[1,1,1,1]
      p = MaxPool(a) kernel_shape=[2,2] strides=[2,2]
      b = Conv(p, v) pads=[1,1,1,1]
      c = ConvTranspose(b, t) strides=[2,2]
      d = Concat(a, c) axis=1
      y = Conv(d, u) pads=[1,1,1,1])",
                                    config, choices);
    EXPECT_EQ(host_steps(plan), 0);
    int concats = 0, slices = 0;
    for (const plan::Step& s : plan.programs[0].steps) {
      EXPECT_NE(s.op, "Transpose");
      concats += s.op == "Concat";
      for (const plan::Operand& o : s.out) slices += !o.dense && o.layout == backends::kChannelsLast;
    }
    EXPECT_EQ(slices, concats == 0 ? 2 : 0);
    in_place += concats == 0;
  }
  EXPECT_GT(in_place, 0);
}

// A transposed convolution becomes a 1x1 convolution whose weights are made from the model's: a refit follows, byte for byte.
TEST(CudaPlan, AStepUpOfAUNetIsRefitted) {
  constexpr const char* kStepUp = R"((x f32[2,16,8,8], w f32[16,8,2,2]!, b f32[8]!)
    t = ConvTranspose(x, w, b) strides=[2,2]
    y = Relu(t))";
  BuildConfig config;
  config.refittable = true;
  runtime::EngineState engine{.plan = plan_of(kStepUp, config)};
  engine.backend = std::make_shared<PaperGpu>(), engine.registry = &ir::Registry::builtin();
  engine.tactics = *engine.backend;
  const auto uses = [&](const char* op) {
    const std::vector<plan::Step>& steps = engine.plan.programs[0].steps;
    return std::any_of(steps.begin(), steps.end(), [&](const plan::Step& s) { return s.op == op; });
  };
  EXPECT_TRUE(uses("Conv") && !uses("ConvTranspose") && !uses("Tile"));
  runtime::NamedWeights weights;
  const ir::Graph second = parse<1000>(kStepUp);
  for (const auto& v : second.values())
    if (v->is_constant()) weights.emplace_back(v->constant->weight_name, v->constant->tensor);
  ASSERT_EQ(weights.size(), 2u);
  const plan::Plan turned = runtime::refit(engine, weights), fresh = plan_of<1000>(kStepUp, config);
  ASSERT_EQ(turned.constants.size(), fresh.constants.size());
  int changed = 0;
  for (std::size_t i = 0; i < fresh.constants.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(fresh.constants[i].bytes);
    ASSERT_EQ(turned.constants[i].bytes, fresh.constants[i].bytes);
    EXPECT_EQ(std::memcmp(turned.bytes_of(i), fresh.bytes_of(i), bytes), 0) << fresh.constants[i].name;
    changed += std::memcmp(turned.bytes_of(i), engine.plan.bytes_of(i), bytes) != 0;
  }
  EXPECT_EQ(changed, 2);
}

}  // namespace
}  // namespace tenfold
