// Products of f32 on tensor cores: who takes them, that operands are rounded to the nearest tf32 and not cut off, and epilogues. Compiled
// for every architecture that claims them and, where there is a GPU, compared with the reference kernels.
#include <cmath>
#include <set>

#include "backends/cuda/backend.h"
#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/library.h"
#include "backends/cuda/tactics/one_node_for_tests.h"

namespace tenfold::backends {
namespace {

using testing::each_tactic;
using testing::OneNode;

struct Case {
  std::string op, text, body;
  std::vector<std::string> extra;
  std::set<std::string, std::less<>> on_hopper;   // on tensor cores
};

const std::string kGelu =
    "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0.70710678) %4=mul.f32(%2,%3) %5=erf.f32(%4) %6=constant.f32(1) %7=add.f32(%5,%6) "
    "%8=mul.f32(%2,%7) %9=constant.f32(0.5) %10=mul.f32(%8,%9) -> %10";
const std::string kResidual = "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%3,%2) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6";

const Case kCases[] = {
    {"MatMul", "f32[1100,136] f32[136,144]! numerics={round_to=tf32}", kGelu, {"f32[144]!"}, {"matmul_mma", "matmul_wgmma"}},
    {"MatMul", "f32[3,430,72] f32[72,208]! numerics={round_to=tf32}", kResidual, {"f32[208]!", "f32[3,430,208]"},
     {"matmul_mma", "matmul_wgmma"}},
    {"MatMul", "f32[128,772] f32[772,104]! numerics={round_to=tf32}", kResidual, {"f32[104]!", "f32[128,104]"},
     {"matmul_mma", "matmul_skinny_wgmma"}},
    {"MatMul", "f32[65,133] f32[133,71]! numerics={round_to=tf32}", kGelu, {"f32[71]!"}, {"matmul_mma"}},
    {"Conv", "f32[6,64,19,23] f32[80,64,3,3]! f32[80]! pads=[1,1,1,1] strides=[1,1] numerics={round_to=tf32}", kResidual,
     {"f32[80,1,1]!", "f32[6,80,19,23]"}, {"conv_mma", "conv_wgmma"}},
    {"Conv", "f32[2,3,57,45] f32[40,3,7,7]! f32[40]! pads=[3,3,3,3] strides=[2,2] numerics={round_to=tf32}",
     "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) -> %2", {}, {"conv_mma"}},
};

bool on_tensor_cores(std::string_view tactic) { return tactic.ends_with("mma"); }

std::set<std::string, std::less<>> takers(const OneNode& one, const DeviceInfo& device, bool compiled) {
  std::set<std::string, std::less<>> found;
  each_tactic(one, device, [&](const Tactic& tactic, const testing::TacticRun& run) {
    if (!on_tensor_cores(tactic.name)) return;
    found.emplace(tactic.name);
    if (!compiled) return;
    Problem anywhere = run.problem;
    anywhere.let_be_misaligned(true);   // the kernels for misaligned addresses, too
    EXPECT_NO_THROW(testing::opened(tactic, anywhere, tactic.configs(run.problem).front())) << tactic.name;
  });
  return found;
}

TEST(CudaTf32, CompilesWhereItIsClaimed) {
  cuda::add_search_place(TENFOLD_SOURCE_DIR "/build/venv");
  const bool compiled = cuda::compiler_why_not().empty();
  for (const Case& c : kCases) {
    const OneNode one(c.op, c.text, c.body, c.extra);
    for (const int arch : {75, 80, 89, 90, 120}) {
      SCOPED_TRACE(cat(c.op, " ", c.text, " for sm_", arch));
      std::set<std::string, std::less<>> expected = c.on_hopper;
      if (arch != 90) std::erase_if(expected, [](const std::string& name) { return name.ends_with("_wgmma"); });
      if (arch == 75) expected.clear();
      EXPECT_EQ(takers(one, testing::compile_only(arch), compiled && (arch == 80 || arch == 90)), expected);   // CudaCompile has all
    }
  }
}

// Where the build does not allow it, and before Ampere: said in words.
TEST(CudaTf32, RefusesWithTheReason) {
  const auto reason = [](std::string_view name, const OneNode& one, int arch) {
    const DeviceInfo device = testing::compile_only(arch);
    for (const Tactic& tactic : cuda_tactics()) {
      if (tactic.name != name) continue;
      testing::TacticRun run(tactic, one.graph, 0);
      run.problem.device = &device;
      if (tactic.formats) run.use(tactic.formats(run.problem).front());
      return tactic.supports(run.problem).reason;
    }
    return std::string("there is no such tactic");
  };
  const OneNode rounded("MatMul", "f32[1100,136] f32[136,144]! numerics={round_to=tf32}", "", {});
  const OneNode exact("MatMul", "f32[1100,136] f32[136,144]!", "", {});
  const OneNode image("Conv", "f32[6,64,19,23] f32[80,64,3,3]!", "", {});
  for (const char* name : {"matmul_mma", "matmul_wgmma", "matmul_skinny_wgmma"}) {
    EXPECT_EQ(reason(name, rounded, 75), "needs sm_80 for tf32") << name;
    EXPECT_EQ(reason(name, exact, 90), "TF32 is not allowed (--noTF32, BuildConfig::tf32 = false)") << name;
  }
  for (const char* name : {"conv_mma", "conv_wgmma"})
    EXPECT_EQ(reason(name, image, 90), "TF32 is not allowed (--noTF32, BuildConfig::tf32 = false)") << name;
}

TEST(CudaTf32, EpiloguesAgreeWithTheReference) {
  std::string lacks;
  if (cuda_devices(lacks).empty()) GTEST_SKIP() << "no GPU: " << lacks;
  const std::shared_ptr<Backend> backend = open_backend("cuda");
  for (const Case& c : kCases) {
    const OneNode one(c.op, c.text, c.body, c.extra);
    const Tensor expected = one.reference();
    double largest = 0;
    for (std::int64_t i = 0; i < expected.size(); ++i) largest = std::max(largest, std::fabs(expected.as_double(i)));
    each_tactic(one, backend->info(), [&](const Tactic& tactic, testing::TacticRun& run) {
      if (!on_tensor_cores(tactic.name)) return;
      for (const bool odd : {false, true})
        for (const Config& config : tactic.configs(run.problem)) {
          if (odd && config != tactic.configs(run.problem).front()) continue;   // each has to be compiled
          SCOPED_TRACE(cat(tactic.name, odd ? ", misaligned addresses, " : " ", run.problem.line()));
          run.problem.let_be_misaligned(odd);
          testing::OnStream stream(*backend);
          const Tensor got = run.run(config, one.operands, stream)[0];
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < expected.size(); ++i)
            wrong += !(std::fabs(got.as_double(i) - expected.as_double(i)) <= 1e-3 * largest);
          EXPECT_EQ(wrong, 0) << "of " << expected.size();
        }
    });
  }
}

// Times one, what comes out is what an operand was rounded to: at most half of tf32's last bit away, with no bits below that.
void expect_rounded(const Tensor& got, const Tensor& exact) {
  std::int64_t far = 0, finer = 0;
  for (std::int64_t i = 0; i < exact.size(); ++i) {
    const float x = exact.data<float>()[i], y = got.data<float>()[i];
    std::uint32_t raw;
    std::memcpy(&raw, &y, sizeof raw);
    far += !(std::fabs(double{y} - x) <= std::ldexp(1.0, std::ilogb(x) - 11)), finer += (raw & 0x1fff) != 0;
  }
  EXPECT_EQ(far, 0) << "of " << exact.size() << " were not rounded to the nearest";
  EXPECT_EQ(finer, 0) << "of " << exact.size() << " were not rounded to tf32";
}

Tensor identity(std::int64_t n) {
  Tensor ones(DType::f32, {n, n});
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < n; ++c) ones.mutable_data<float>()[r * n + c] = r == c ? 1.f : 0.f;
  return ones;
}

TEST(CudaTf32, RoundsBothOperandsToTheNearest) {
  std::string lacks;
  if (cuda_devices(lacks).empty()) GTEST_SKIP() << "no GPU: " << lacks;
  const std::shared_ptr<Backend> backend = open_backend("cuda");
  for (const bool left : {true, false})
    for (const std::int64_t n : {128, 384}) {   // few results, and many
      OneNode one("MatMul", cat("f32[", n, ",", n, "] f32[", n, ",", n, "]! numerics={round_to=tf32}"), "", {});
      one.operands[left ? 1 : 0] = identity(n);
      const Tensor& exact = one.operands[left ? 0 : 1];
      each_tactic(one, backend->info(), [&](const Tactic& tactic, const testing::TacticRun& run) {
        if (!on_tensor_cores(tactic.name)) return;
        for (const Config& config : tactic.configs(run.problem)) {
          SCOPED_TRACE(cat(tactic.name, left ? ", left operand of " : ", weights of ", run.problem.line()));
          testing::OnStream stream(*backend);
          expect_rounded(run.run(config, one.operands, stream)[0], exact);
        }
      });
    }
}

}  // namespace
}  // namespace tenfold::backends
