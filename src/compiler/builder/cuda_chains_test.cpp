// Which chains of pointwise operators, casts, broadcasts, movements and reductions a plan for a GPU computes in one kernel.
#include <iostream>

#include "backends/cuda/device/compiler.h"
#include "builder/paper_gpu_for_tests.h"

namespace tenfold {
namespace {

using builder::testing::plan_of;

struct Chain {
  const char *what, *graph;
  // In f32; with f16 allowed, where a graph's f32 inputs are narrowed first unless what reads them does that.
  int kernels = 1, halves = 1;
};
const Chain kChains[] = {
    {"pointwise, reduce", "(x f32[64,512], z f32[64,512])\n p = Mul(x, z)\n q = Abs(p)\n y = ReduceMean(q) axes=[-1]"},
    {"pointwise, reduce, dims dropped", "(x f32[64,512], z f32[64,512])\n p = Mul(x, z)\n y = ReduceSum(p) axes=[-1] keepdims=0"},
    {"reduce, pointwise", "(x f32[64,512])\n m = ReduceMax(x) axes=[-1]\n y = Sub(x, m)"},
    {"reduce, numbers alone", "(x f32[64,512])\n e = f32[]{0.5}\n m = ReduceSum(x) axes=[-1]\n a = Add(m, e)\n y = Sqrt(a)"},
    {"L2 normalization", "(x f32[64,512])\n n = ReduceL2(x) axes=[-1]\n y = Div(x, n)"},
    {"L2 normalization, limited, dims dropped and back", R"((x f32[64,512])
      least = f32[]{1e-12}
      at = i64[1]{1}
      n = ReduceL2(x) axes=[-1] keepdims=0
      c = Max(n, least)
      u = Unsqueeze(c, at)
      y = Div(x, u))"},
    {"L2 normalization with Expand, as PyTorch exports it", R"((x f32[64,512])
      least = f32[]{1e-12}
      to = i64[2]{64,512}
      n = ReduceL2(x) axes=[-1]
      c = Clip(n, least)
      e = Expand(c, to)
      y = Div(x, e))"},
    {"LayerNorm in pieces", R"((x f32[64,512], w f32[512]!, b f32[512]!)
      two = f32[]{2.0}
      eps = f32[]{0.00001}
      m = ReduceMean(x) axes=[-1]
      d = Sub(x, m)
      q = Pow(d, two)
      v = ReduceMean(q) axes=[-1]
      e = Add(v, eps)
      s = Sqrt(e)
      n = Div(d, s)
      g = Mul(n, w)
      y = Add(g, b))"},
    {"LayerNorm, GELU", "(x f32[64,512], w f32[512]!, b f32[512]!)\n n = LayerNormalization(x, w, b)\n y = Gelu(n)"},
    {"residual, LayerNorm, ReLU",
     "(x f32[64,512], z f32[64,512], w f32[512]!, b f32[512]!)\n s = Add(x, z)\n n = LayerNormalization(s, w, b)\n y = Relu(n)"},
    {"RMSNorm in f32 among f16", R"((x f16[64,512], w f16[512]!)
      two = f32[]{2.0}
      eps = f32[]{0.00001}
      h = Cast(x) to="f32"
      q = Pow(h, two)
      v = ReduceMean(q) axes=[-1]
      e = Add(v, eps)
      s = Sqrt(e)
      r = Reciprocal(s)
      n = Mul(h, r)
      c = Cast(n) to="f16"
      y = Mul(c, w))"},
    {"softmax in pieces",
     "(x f32[64,512])\n m = ReduceMax(x) axes=[-1]\n d = Sub(x, m)\n e = Exp(d)\n s = ReduceSum(e) axes=[-1]\n y = Div(e, s)"},
    {"scale, mask, softmax", R"((x f32[4,8,64,64], k f32[4,1,1,64])
      c = f32[]{0.125}
      a = Mul(x, c)
      b = Add(a, k)
      y = Softmax(b) axis=-1)"},
    {"softmax, pointwise", "(x f32[64,512], z f32[64,512])\n s = Softmax(x) axis=-1\n y = Mul(s, z)"},
    {"log-sum-exp",
     "(x f32[64,512])\n m = ReduceMax(x) axes=[-1]\n d = Sub(x, m)\n e = Exp(d)\n s = ReduceSum(e) axes=[-1]\n l = Log(s)\n y = Add(l, m)"},
    {"long rows", "(x f32[2,300000])\n n = ReduceL2(x) axes=[-1]\n y = Div(x, n)"},
    {"all of a tensor", "(x f32[64,64,64], z f32[64,64,64])\n d = Sub(x, z)\n q = Mul(d, d)\n y = ReduceMean(q)"},
    {"GroupNorm in pieces", R"((x f32[2,32,16,16], w f32[32,1,1]!, b f32[32,1,1]!)
      eps = f32[]{0.00001}
      groups = i64[3]{2,8,1024}
      back = i64[4]{2,32,16,16}
      g = Reshape(x, groups)
      m = ReduceMean(g) axes=[-1]
      d = Sub(g, m)
      q = Mul(d, d)
      v = ReduceMean(q) axes=[-1]
      e = Add(v, eps)
      s = Sqrt(e)
      n = Div(d, s)
      r = Reshape(n, back)
      a = Mul(r, w)
      y = Add(a, b))"},
    {"InstanceNorm in pieces", R"((x f32[2,32,16,16], w f32[32,1,1]!, b f32[32,1,1]!)
      eps = f32[]{0.00001}
      m = ReduceMean(x) axes=[2,3]
      d = Sub(x, m)
      q = Mul(d, d)
      v = ReduceMean(q) axes=[2,3]
      e = Add(v, eps)
      s = Sqrt(e)
      n = Div(d, s)
      a = Mul(n, w)
      y = Add(a, b))"},
    {"mean pooling as sentence-transformers has it", R"((x f32[8,128,384], k i64[8,128])
      least = f32[]{1e-9}
      at = i64[1]{-1}
      to = i64[3]{8,128,384}
      u = Unsqueeze(k, at)
      e = Expand(u, to)
      m = Cast(e) to="f32"
      p = Mul(x, m)
      s = ReduceSum(p) axes=[1] keepdims=0
      n = ReduceSum(m) axes=[1] keepdims=0
      c = Clip(n, least)
      y = Div(s, c))",
     1, 1},
    {"cast, reduce a slice, cast", R"((x f16[64,600])
      from = i64[1]{8}
      to = i64[1]{520}
      axes = i64[1]{1}
      p = Slice(x, from, to, axes)
      h = Cast(p) to="f32"
      m = ReduceMean(h) axes=[-1]
      d = Sub(h, m)
      y = Cast(d) to="f16")"},
    {"transpose, pointwise, reduce", "(x f32[64,32,48])\n t = Transpose(x) perm=[0,2,1]\n e = Exp(t)\n y = ReduceSum(e) axes=[-1]", 1, 2},
    {"columns: reduce, pointwise", "(x f32[8,128,384])\n m = ReduceMax(x) axes=[1]\n y = Sub(x, m)", 2, 4},
    {"columns: L2 normalization of channels", "(x f32[8,128,28,28])\n n = ReduceL2(x) axes=[1]\n y = Div(x, n)", 2, 2},
    {"columns: pointwise, reduce", "(x f32[8,128,384], z f32[8,128,384])\n p = Mul(x, z)\n y = ReduceSum(p) axes=[1]", 2, 2},
    {"concat, reduce", "(x f32[64,256], z f32[64,256])\n c = Concat(x, z) axis=1\n n = ReduceL2(c) axes=[-1]\n y = Div(c, n)", 2, 3},
    {"symbolic rows", "(x f32[n,m])\n k = ReduceMax(x) axes=[-1]\n d = Sub(x, k)\n y = Exp(d)"},
};

TEST(CudaChains, BecomeOneKernel) {
  if (const std::string& why = backends::cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  for (const bool half : {false, true})
    for (const Chain& c : kChains) {
      BuildConfig config;
      config.fp16 = half, config.check_overflow = false;
      if (std::string_view(c.what).starts_with("symbolic")) config.profiles = {{{"x", {{1, 16}, {4, 160}, {8, 1600}}}}};
      const plan::Plan plan = plan_of(c.graph, config);
      std::string steps;
      int kernels = 0;
      for (const plan::Step& s : plan.programs[0].steps) {
        steps += cat(" ", s.op, ":", s.tactic);
        ++kernels;
      }
      if (std::getenv("TENFOLD_TELL")) std::cerr << (half ? "f16 " : "f32 ") << c.what << ": " << kernels << steps << "\n";
      EXPECT_EQ(kernels, half ? c.halves : c.kernels) << (half ? "f16 " : "f32 ") << c.what << steps;
    }
}

}  // namespace
}  // namespace tenfold
