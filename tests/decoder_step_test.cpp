// The plan of a decoder for a GPU, on the fake driver: how many kernels a step launches for each layer, and that each writes its keys and
// values where the cache is. What the kernels compute is compared elsewhere (conformance, tools/gpu_decoder.py).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "backends/cuda/device/compiler.h"
#include "fake_driver.h"
#include "plan/read.h"
#include "text/decoders/tiny_llama_for_tests.h"

namespace tenfold {
namespace {

using decoders::TinyLlama;
using tests::FakeDriver;

class DecoderStep : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = backends::cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
    fake_ = &FakeDriver::get();
    *fake_ = {};
  }
  void TearDown() override {
    std::error_code none;
    std::filesystem::remove_all(plans_, none);
    if (fake_) FakeDriver::put();
  }
  // Makes the engine and takes some steps, which a cache that is not continued in place would refuse.
  void generate(bool fp16, const std::string& weights = "") {
    DecoderOptions options;
    options.weights = weights;
    options.cache = PlanCacheOptions{};
    options.cache->folder = plans_;
    options.build.device = "cuda:" + std::to_string(FakeDriver::kOrdinal);
    options.build.optimization_level = 0, options.build.threads = 1, options.build.fp16 = fp16, options.build.check_overflow = false;
    options.build.tactic_sources = static_cast<std::uint32_t>(TacticSource::reference | TacticSource::native);
    const Decoder decoder = Decoder::load(llama_.path, options);
    GenerateCall call;
    call.max_tokens = 4, call.ignore_end = true;
    EXPECT_EQ(decoder.generate("w1 w2 w3", call).ids.size(), 4u);
  }
  plan::Plan plan() const {
    for (const auto& entry : std::filesystem::directory_iterator(plans_))
      if (entry.path().extension() == ".plan") return plan::load(entry.path().string());
    ADD_FAILURE() << "no plan in " << plans_;
    return {};
  }
  FakeDriver* fake_ = nullptr;
  TinyLlama llama_{"decoder-step"};
  const std::string plans_ = llama_.path + "-plans";
};

std::map<std::string, int> kernels_of(const plan::Program& program) {
  std::map<std::string, int> count;
  for (const plan::Step& step : program.steps) ++count[step.tactic];
  return count;
}

constexpr int kLayers = 2;

TEST_F(DecoderStep, SixKernelsForEachLayer) {
  for (const bool fp16 : {false, true}) {
    SCOPED_TRACE(fp16 ? "fp16" : "fp32");
    generate(fp16);
    const plan::Plan made = plan();
    const plan::Program& step = made.programs.at(0);
    std::map<std::string, int> kernels = kernels_of(step);
    // Of a layer: queries, keys and values of the norm's result; rotation and cache; attention; the output's product; both products
    // of the feed-forward's first half, of the norm's result; the second half's. Then the words' product of the last norm's result.
    EXPECT_EQ(kernels["norm_matmul_gemv"], 2 * kLayers + 1);
    EXPECT_EQ(kernels["rotary_cache_update_elements"], kLayers);
    EXPECT_EQ(kernels["matmul_gemv"], 2 * kLayers);
    EXPECT_EQ(kernels["rms_norm_rows"] + kernels["rotary_embedding_elements"] + kernels["tensor_scatter_elements"], 0);
    EXPECT_EQ(step.steps.size(), 6u * kLayers + 4) << "beside the layers: embeddings, the mask, the token that is asked for, the words";
    std::filesystem::remove_all(plans_);
  }
}

// No weight is unfolded, in the plan or by a step of its own; the words' product has 8 bits.
TEST_F(DecoderStep, NarrowWeightsStayNarrow) {
  for (const bool fp16 : {false, true}) {
    SCOPED_TRACE(fp16 ? "fp16" : "tf32");
    generate(fp16, "int4");
    const plan::Plan made = plan();
    EXPECT_EQ(made.programs.size(), 2u);
    for (const plan::Program& program : made.programs) {
      int products = 0;
      for (const plan::Step& step : program.steps) {
        EXPECT_EQ(step.tactic.find("matmul_gemv"), std::string::npos) << step.tactic;
        EXPECT_NE(step.tactic, "reference") << step.op;
        if (step.op != "MatMulBlockScaled" && step.op != "NormMatMulBlockScaled") continue;
        ++products;
        EXPECT_LE(bits(step.in.at(1).dtype), 8);
        EXPECT_TRUE(step.in.at(1).packed);
        EXPECT_EQ(step.in.at(0).dtype, fp16 ? DType::f16 : DType::f32);
      }
      EXPECT_EQ(products, 5 * kLayers + 1) << "queries, keys and values are one";
    }
    // As with floats, but for the gate, which is a product of its own.
    std::map<std::string, int> kernels = kernels_of(made.programs.at(0));
    EXPECT_EQ(kernels["norm_matmul_block_scaled_few"], 3 * kLayers + 1);
    EXPECT_EQ(kernels["matmul_block_scaled_few"], 2 * kLayers);
    EXPECT_EQ(made.programs.at(0).steps.size(), 7u * kLayers + 4);
    std::filesystem::remove_all(plans_);
  }
}

TEST_F(DecoderStep, NarrowWeightsWantARoundedSum) {
  DecoderOptions options;
  options.weights = "int4", options.build.tf32 = false, options.build.device = "cuda:" + std::to_string(FakeDriver::kOrdinal);
  try {
    (void)Decoder::load(llama_.path, options);
    FAIL() << "loaded";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("permit tf32, fp16 or bf16"), std::string::npos) << e.what();
  }
}

TEST_F(DecoderStep, KeysAndValuesStayInTheirCaches) {
  generate(true);
  const plan::Plan made = plan();
  int updates = 0;
  for (const plan::Program& program : made.programs)
    for (const plan::Step& step : program.steps) {
      if (step.op != "RotaryCacheUpdate") continue;
      ++updates;
      for (const std::size_t result : {1u, 2u}) {
        EXPECT_EQ(step.in.at(result + 2).at.space, plan::Space::binding);
        EXPECT_EQ(step.out.at(result).at.space, plan::Space::binding);
      }
    }
  EXPECT_EQ(updates, kLayers * static_cast<int>(made.programs.size()));
}

}  // namespace
}  // namespace tenfold
