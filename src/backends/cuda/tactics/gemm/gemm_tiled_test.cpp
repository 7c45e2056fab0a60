// gemm_tiled with epilogues that the operators' cases have not: operands by row, column and batch, results that the epilogue enlarges,
// vectors, and extents that only a run knows. Compared with the reference where there is a GPU, else compiled.
#include <cmath>

#include "backends/cuda/backend.h"
#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/library.h"
#include "backends/cuda/tactics/one_node_for_tests.h"

namespace tenfold::backends {

Tactic cuda_gemm_tiled();

namespace {

using testing::OneNode;

struct TiledCase {
  const char *text, *body;
  std::vector<std::string> extra;   // operands of the body
};

const TiledCase kCases[] = {
    {"f32[3,33,40] f32[3,40,36]", "(f32,f32,f32) %3=add.f32(%0,%1) %4=mul.f32(%3,%2) -> %4", {"f32[36]!", "f32[3,1,1]"}},
    {"f32[4,5,64] f32[64,132]!", "(f32,f32,f32) %3=add.f32(%0,%1) %4=constant.f32(0) %5=max.f32(%3,%4) %6=add.f32(%5,%2) -> %6",
     {"f32[132]!", "f32[4,5,132]"}},
    {"f16[2,70,48] f16[48,136]!", "(f16,f32,f16) %3=cast.f32(%0) %4=mul.f32(%3,%1) %5=cast.f16(%4) %6=add.f16(%5,%2) -> %6",
     {"f32[2,70,1]", "f16[136]!"}},
    {"f32[2,1,20] f32[2,20,9]", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[2,6,9]"}},   // rows of the result that the product has not
    {"f32[7,20] f32[20,1]", "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[3,7,5]"}},
    {"f32[5,20] f32[20]", "(f32,f32) %2=sub.f32(%0,%1) -> %2", {"f32[5]"}},
    {"f32[20] f32[3,20,6]", "(f32,f32) %2=sub.f32(%0,%1) -> %2", {"f32[3,1]"}},
    {"f32[20] f32[20]", "(f32,f32) %2=sub.f32(%0,%1) -> %2", {"f32[2,2]"}},
    {"f32[9,0] f32[0,5]", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[5]"}},
    {"f32[2,3,4,8] f32[2,3,8,4]", "(f32,bool,f32) %3=select.f32(%1,%0,%2) -> %3", {"bool[4,4]", "f32[]"}},
};

const Config kTiles[] = {{128, 128}, {64, 64}, {32, 32}, {16, 64}};

TEST(CudaTiledGemm, EpiloguesCompile) {
  cuda::add_search_place(TENFOLD_SOURCE_DIR "/build/venv");
  if (const std::string why = cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  const Tactic tactic = cuda_gemm_tiled();
  for (const TiledCase& c : kCases) {
    SCOPED_TRACE(cat(c.text, " ", c.body));
    const OneNode one("MatMul", c.text, c.body, c.extra);
    const DeviceInfo device = testing::compile_only(75);
    testing::TacticRun run(tactic, one.graph, 0);
    run.problem.device = &device;
    const Verdict verdict = tactic.supports(run.problem);
    ASSERT_TRUE(verdict.yes) << verdict.reason;
    for (const Config& config : tactic.configs(run.problem)) EXPECT_NO_THROW(testing::opened(tactic, run.problem, config));
  }
}

TEST(CudaTiledGemm, EpiloguesAgreeWithTheReference) {
  std::string lacks;
  if (cuda_devices(lacks).empty()) GTEST_SKIP() << "no GPU: " << lacks;
  const std::shared_ptr<Backend> backend = open_backend("cuda");
  const Tactic tactic = cuda_gemm_tiled();
  for (const TiledCase& c : kCases) {
    const OneNode one("MatMul", c.text, c.body, c.extra);
    const Tensor expected = one.reference();
    testing::TacticRun run(tactic, one.graph, 0);
    run.problem.device = &backend->info();
    for (const bool odd : {false, true})
      for (const Config& config : kTiles) {
        if (odd && config[0] != 64) continue;   // each has to be compiled
        SCOPED_TRACE(cat(config[0], "x", config[1], odd ? ", misaligned addresses, " : ", ", run.problem.line()));
        ASSERT_TRUE(tactic.valid(run.problem, config).yes);
        run.problem.let_be_misaligned(odd);
        testing::OnStream stream(*backend);
        const Tensor got = run.run(config, one.operands, stream)[0];
        ASSERT_EQ(got.shape(), expected.shape());
        const double max = expected.dtype() == DType::f16 ? 0.05 : 1e-4;
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < expected.size(); ++i) wrong += !(std::fabs(got.as_double(i) - expected.as_double(i)) <= max);
        EXPECT_EQ(wrong, 0) << "of " << expected.size();
      }
  }
}

// Its sizes are a run's: the same kernel multiplies whatever comes.
TEST(CudaTiledGemm, TakesWhatOnlyARunKnows) {
  const Tactic tactic = cuda_gemm_tiled();
  const OneNode one("MatMul", kCases[0].text, kCases[0].body, kCases[0].extra);
  testing::TacticRun run(tactic, one.graph, 0);
  ir::SymbolBounds box;
  run.problem.body = nullptr, run.problem.in.resize(2), run.problem.box = &box;
  const ir::Dim b = ir::Dim::symbol("b"), m = ir::Dim::symbol("m"), n = ir::Dim::symbol("n"), k = ir::Dim::symbol("k");
  for (const char* s : {"b", "m", "n", "k"}) box[s] = {1, 100};
  run.problem.in[0].dims = {b, ir::Dim(1), m, k}, run.problem.in[1].dims = {ir::Dim(3), k, n};
  run.problem.out[0].dims = {b, ir::Dim(3), m, n};
  run.problem.in[0].dense = false, run.problem.in[0].strides = {k * m * 2, k * m, k, 1};
  EXPECT_TRUE(tactic.supports(run.problem).yes) << tactic.supports(run.problem).reason;
  box["m"] = {1, std::int64_t{1} << 40};
  EXPECT_EQ(tactic.supports(run.problem).reason, "a matrix has too many rows or columns");
  run.problem.in[0].dtype = run.problem.in[1].dtype = DType::i32;
  EXPECT_EQ(tactic.supports(run.problem).reason, "operands are i32");
}

}  // namespace
}  // namespace tenfold::backends
