// Planning of quantized networks for a GPU that is not there: their products stay in 8 bits, and no step falls to the host.
#include <gtest/gtest.h>

#include "builder/paper_gpu_for_tests.h"

namespace tenfold {
namespace {

using builder::testing::host_steps;
using builder::testing::plan_of;

// Quantized models keep to the GPU too, and their products to 8 bits.
TEST(CudaQuantizedPlan, QuantizedNetworksStayOnTheGpuInEightBits) {
  BuildConfig config;
  config.fp16 = true;
  const auto products = [](const plan::Plan& plan, const char* op) {
    const std::vector<plan::Step>& steps = plan.programs[0].steps;
    return std::count_if(steps.begin(), steps.end(), [&](const plan::Step& s) { return s.op == op; });
  };
  const plan::Plan encoder = plan_of(R"((x f32[8,64], w f8e4m3fn[64,128]!, v f8e4m3fn[128,64]!, c f32[128]!, g f32[64]!, b f32[64]!)
    s = f32[]{0.02}
    z = f8e4m3fn[]{0}
    ws = f32[]{0.01}
    r = Relu(x)
    n = LayerNormalization(r, g, b) axis=-1
    q = QuantizeLinear(n, s, z)
    d = DequantizeLinear(q, s, z)
    wd = DequantizeLinear(w, ws)
    m = MatMul(d, wd)
    a = Add(m, c)
    e = Gelu(a)
    eq = QuantizeLinear(e, s, z)
    ed = DequantizeLinear(eq, s, z)
    vd = DequantizeLinear(v, ws)
    o = MatMul(ed, vd)
    h = Add(o, n)
    y = LayerNormalization(h, g, b) axis=-1)",
                                     config);
  EXPECT_EQ(host_steps(encoder), 0);
  EXPECT_EQ(products(encoder, "MatMulFloat8"), 2);
  const plan::Plan network = plan_of(R"((x f32[2,16,12,12], w i8[32,16,3,3]!, v i8[32,1,3,3]!)
    s = f32[]{0.02}
    z = u8[]{7}
    ws = f32[]{0.01}
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    wd = DequantizeLinear(w, ws)
    a = Conv(d, wd) pads=[1,1,1,1]
    r = Relu(a)
    rq = QuantizeLinear(r, s, z)
    rd = DequantizeLinear(rq, s, z)
    vd = DequantizeLinear(v, ws)
    p = Conv(rd, vd) pads=[1,1,1,1] group=32
    t = Add(p, rd)
    tq = QuantizeLinear(t, s, z)
    y = DequantizeLinear(tq, s, z))",
                                     config);
  EXPECT_EQ(host_steps(network), 0);
  EXPECT_EQ(products(network, "ConvInteger"), 2);
  config.profiles = {{{"x", {{2, 16, 8, 12}, {2, 16, 12, 12}, {2, 16, 16, 12}}}}};
  const plan::Plan floats = plan_of(R"((x f32[2,16,h,12], w f8e4m3fn[32,16,3,3]!, v f8e4m3fn[32,1,3,3]!, u f8e4m3fn[16,32,1,1]!)
    s = f32[]{0.02}
    z = f8e4m3fn[]{0}
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    wd = DequantizeLinear(w, s)
    a = Conv(d, wd) pads=[1,1,1,1]
    r = Relu(a)
    rq = QuantizeLinear(r, s, z)
    rd = DequantizeLinear(rq, s, z)
    vd = DequantizeLinear(v, s)
    p = Conv(rd, vd) pads=[1,1,1,1] group=32
    pq = QuantizeLinear(p, s, z)
    pd = DequantizeLinear(pq, s, z)
    ud = DequantizeLinear(u, s)
    t = Conv(pd, ud)
    y = Add(t, d))",
                                    config);
  EXPECT_EQ(host_steps(floats), 0);
  EXPECT_EQ(products(floats, "ConvFloat8"), 3);
}

// Attention between products, all of it quantized: operands are quantized by the products that make them, or by one step each.
TEST(CudaQuantizedPlan, QuantizedAttentionStaysOnTheGpuInEightBits) {
  BuildConfig config;
  config.fp16 = true;
  const plan::Plan plan = plan_of(R"((x f32[2,32,64], q f32[64,64]!, k f32[64,64]!, v f32[64,64]!, o f32[64,64]!)
    s = f32[]{0.05}
    ps = f32[]{0.00390625}
    h = f32[]{0.18}
    z = f8e4m3fn[]{0}
    heads = i64[4]{0,0,2,32}
    back = i64[3]{0,0,64}
    qm = MatMul(x, q)
    qr = Reshape(qm, heads)
    qt = Transpose(qr) perm=[0,2,1,3]
    qq = QuantizeLinear(qt, s, z)
    qd = DequantizeLinear(qq, s, z)
    km = MatMul(x, k)
    kr = Reshape(km, heads)
    kt = Transpose(kr) perm=[0,2,3,1]
    kq = QuantizeLinear(kt, s, z)
    kd = DequantizeLinear(kq, s, z)
    vm = MatMul(x, v)
    vr = Reshape(vm, heads)
    vt = Transpose(vr) perm=[0,2,1,3]
    vq = QuantizeLinear(vt, s, z)
    vd = DequantizeLinear(vq, s, z)
    a = MatMul(qd, kd)
    b = Mul(a, h)
    p = Softmax(b)
    pq = QuantizeLinear(p, ps, z)
    pd = DequantizeLinear(pq, ps, z)
    c = MatMul(pd, vd)
    ct = Transpose(c) perm=[0,2,1,3]
    cr = Reshape(ct, back)
    y = MatMul(cr, o))",
                                  config);
  EXPECT_EQ(host_steps(plan), 0);
  int attentions = 0, softmaxes = 0;
  for (const plan::Step& s : plan.programs[0].steps) {
    attentions += s.op == "AttentionFloat8", softmaxes += s.op == "Softmax";
    EXPECT_TRUE(s.op != "AttentionFloat8" || s.in[0].dtype == DType::f8e4m3fn);
    if (std::getenv("TENFOLD_TELL")) std::cerr << s.op << " " << s.tactic << " " << name(s.out[0].dtype) << "\n";
  }
  EXPECT_EQ(attentions, 1);
  EXPECT_EQ(softmaxes, 0);
}

// A plain model without ranges: its rows are quantized as they run, once for queries, keys and values.
TEST(CudaQuantizedPlan, RowsAreQuantizedAsTheyRun) {
  BuildConfig config;
  config.fp16 = true;
  config.calibration = Calibration{.sample = {}, .method = "dynamic"};
  const plan::Plan plan = plan_of(R"((x f32[8,64], q f32[64,64]!, k f32[64,64]!, v f32[64,64]!, w f32[64,128]!, u f32[128,64]!, b f32[128]!,
      g f32[64]!, h f32[64]!)
    n = LayerNormalization(x, g, h) axis=-1
    queries = MatMul(n, q)
    keys = MatMul(n, k)
    values = MatMul(n, v)
    a = Relu(queries)
    s = Softmax(keys)
    t = Mul(a, s)
    r = Add(t, values)
    m = MatMul(r, w)
    c = Add(m, b)
    e = Gelu(c)
    o = MatMul(e, u)
    y = Add(o, n))",
                                  config);
  EXPECT_EQ(host_steps(plan), 0);
  int products = 0, rows = 0;
  for (const plan::Step& s : plan.programs[0].steps) {
    products += s.op == "MatMulInteger", rows += s.op == "QuantizeRows";
    EXPECT_TRUE(s.op != "QuantizeRows" || s.in[0].dtype == DType::f16);
  }
  EXPECT_GE(products, 3);
  EXPECT_LE(products, 5);
  EXPECT_EQ(rows, 3);
}

}  // namespace
}  // namespace tenfold
