// The passes on Q/DQ graphs: what they turn graphs into, and that results stay the same up to one step of the output's quantization.
#include "passes/precision/qdq.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pipeline.h"

namespace tenfold::passes {
namespace {

Tensor constant(DType dtype, const Shape& shape, std::uint64_t seed) {
  if (dtype == DType::f32) return ops::random_tensor(dtype, shape, seed, 0.01, 0.05);  // scales
  const bool is_signed = dtype == DType::i8;
  return ops::random_tensor(dtype, shape, seed, is_signed ? -128 : 0, is_signed ? 127 : 255);
}
ir::Graph parse(std::string_view text) { return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = constant}); }

std::vector<Tensor> results(const ir::Graph& graph, const std::vector<ops::RuntimeValue>& inputs) {
  std::vector<Tensor> tensors;
  for (const ops::RuntimeValue& v : ops::run_graph(graph, inputs)) tensors.push_back(std::get<Tensor>(v));
  return tensors;
}

std::vector<Pass> on_cpu() { return pipeline_for({.kind = "cpu", .features = backends::kAvx2}, {}).precision; }
std::vector<Pass> on_gpu(bool float8) {
  BuildConfig config;
  config.fp8 = float8;
  return pipeline_for({.kind = "cuda", .arch = 90}, config).precision;
}

// Runs all passes; the results on random inputs may differ by `tolerance`, in units of the output.
ir::Graph run_all(std::string_view text, double tolerance, std::vector<Pass> list = on_cpu()) {
  ir::Graph graph = parse(text);
  std::vector<ops::RuntimeValue> inputs;
  for (const ir::Value* v : graph.inputs)
    inputs.emplace_back(ops::random_tensor(v->dtype(), ir::constants(v->dims()), inputs.size() + 5, v->dtype() == DType::u8 ? 0 : -3,
                                           v->dtype() == DType::u8 ? 255 : 3));
  const std::vector<Tensor> before = results(graph, inputs);
  run(graph, list);
  const std::vector<Tensor> after = results(graph, inputs);
  for (std::size_t i = 0; i < before.size(); ++i) {
    double worst = 0;
    for (std::int64_t j = 0; j < before[i].size(); ++j) worst = std::max(worst, std::abs(before[i].as_double(j) - after[i].as_double(j)));
    EXPECT_LE(worst, tolerance) << ir::print(graph);
  }
  return graph;
}

int count(const ir::Graph& graph, std::string_view op) {
  int n = 0;
  for (const auto& node : graph.nodes()) n += node->op() == op;
  return n;
}

TEST(Qdq, ConvolutionsBecomeIntegerWithBiasAndPerChannelScales) {
  for (const char* signs : {"u8[]{128}", "i8[]{-5}", "u8[]{0}", "i8[]{0}"}) {
    const std::string zero(signs);
    const ir::Graph graph = run_all("(x f32[1,3,9,9])\n  xs = f32[]{0.02}\n  xz = " + zero + R"(
      ws = constant f32[8]
      wz = i8[8]{0,0,0,0,0,0,0,0}
      w = constant i8[8,3,3,3]
      bs = f32[8]{0.001,0.001,0.001,0.001,0.001,0.001,0.001,0.001}
      b = i32[8]{100,-200,300,-400,500,-600,700,-800}
      os = f32[]{0.25}
      q = QuantizeLinear(x, xs, xz)
      d = DequantizeLinear(q, xs, xz)
      wd = DequantizeLinear(w, ws, wz) axis=0
      bd = DequantizeLinear(b, bs) axis=0
      c = Conv(d, wd, bd) pads=[1,1,1,1]
      r = Relu(c)
      y = QuantizeLinear(r, os, xz)
    )",
                                    1);
    EXPECT_EQ(count(graph, "ConvInteger"), 1) << ir::print(graph);
    EXPECT_EQ(count(graph, "Conv") + count(graph, "QuantizeLinear") + count(graph, "DequantizeLinear"), 0) << ir::print(graph);
  }
}

// Of all zero points, so that sums which saturate at either end meet their bounds.
TEST(Qdq, SignedActivationsBecomeUnsignedOnesOfTheSameValues) {
  for (const char* zero : {"-128", "-5", "0", "127"}) {
    const ir::Graph graph = run_all(cat("(x f32[3,40])\n  s = f32[]{0.02}\n  z = i8[]{", zero, "}\n", R"(
      q = QuantizeLinear(x, s, z)
      y = DequantizeLinear(q, s, z)
    )"),
                                    0, {find_pass("unsign_qdq")});
    for (const auto& node : graph.nodes())
      if (is_quantize(node.get())) { EXPECT_EQ(node->out()->dtype(), DType::u8) << ir::print(graph); }
  }
  // Bytes that others see stay as they are: here the result.
  const ir::Graph seen = run_all(R"((x f32[3,40])
    s = f32[]{0.02}
    z = i8[]{3}
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    y = Neg(d)
    return y, q
  )",
                                 0, {find_pass("unsign_qdq")});
  EXPECT_EQ(seen.outputs[1]->dtype(), DType::i8);
}

TEST(Qdq, GemmWithTurnedWeights) {
  const ir::Graph graph = run_all(R"((x u8[4,6])
    xs = f32[]{0.05}
    xz = u8[]{100}
    w = constant i8[5,6]
    ws = constant f32[5]
    b = f32[5]{1.0,2.0,3.0,4.0,5.0}
    d = DequantizeLinear(x, xs, xz)
    wd = DequantizeLinear(w, ws) axis=0
    y = Gemm(d, wd, b) transB=1
  )",
                                  1e-3);
  EXPECT_EQ(count(graph, "MatMulInteger"), 1) << ir::print(graph);
}

TEST(Qdq, ResidualSumsAndMovementKeepEightBits) {
  const ir::Graph graph = run_all(R"((x u8[1,4,6,6])
    s = f32[]{0.02}
    z = u8[]{120}
    dims = i64[2]{4,36}
    w = constant i8[4,4,1,1]
    ws = f32[]{0.01}
    d = DequantizeLinear(x, s, z)
    wd = DequantizeLinear(w, ws)
    c = Conv(d, wd)
    q = QuantizeLinear(c, s, z)
    e = DequantizeLinear(q, s, z)
    a = Add(e, d)
    r = QuantizeLinear(a, s, z)
    f = DequantizeLinear(r, s, z)
    t = Reshape(f, dims)
    y = QuantizeLinear(t, s, z)
  )",
                                  1);
  EXPECT_EQ(count(graph, "ConvInteger"), 1);
  for (const auto& node : graph.nodes()) {
    if (node->op() == "Reshape") {
      EXPECT_EQ(node->in(0)->dtype(), DType::u8) << ir::print(graph);
    }
  }
}

TEST(Qdq, KeepsFloatWhatIsNoIntegerProduct) {
  // A scale along the depth of the product cannot be taken out of the sum; 16-bit activations are too wide.
  const char* text = R"((x u8[2,3])
    xs = f32[]{0.05}
    w = constant i8[3,4]
    ws = constant f32[3]
    d = DequantizeLinear(x, xs)
    wd = DequantizeLinear(w, ws) axis=0
    y = MatMul(d, wd)
  )";
  const ir::Graph graph = run_all(text, 1e-4);
  EXPECT_EQ(count(graph, "MatMulInteger"), 0);
  EXPECT_EQ(count(graph, "DequantizeLinear"), 0) << "constant weights are dequantized at build time";
}

TEST(Qdq, ARectifierHiddenInTheRangeStays) {
  const ir::Graph graph = run_all(R"((x f32[2,3,4], w f32[2,4,5])
    s = f32[]{0.05}
    z = u8[]{0}
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    y = MatMul(d, w)
  )",
                                  1e-3);
  EXPECT_EQ(count(graph, "Region"), 2) << ir::print(graph);
}

// A depth that tensor cores do not take leaves a product with weights to floats, of the rounded activations as before.
TEST(Qdq, WhatIsRoundedForWeightsStaysRounded) {
  const auto quantized = [](const std::string& turn) {
    return run_all(R"((x f32[4,5])
      xs = f32[]{0.5}
      xz = i8[]{3}
      w = constant i8[)" + turn + R"(
      q = QuantizeLinear(x, xs, xz)
      d = DequantizeLinear(q, xs, xz)
      y = MatMul(d, wt)
    )",
                   1e-4, on_gpu(true));
  };
  EXPECT_EQ(count(quantized("5,7]\n  wt = DequantizeLinear(w, xs)"), "Region"), 2);
  EXPECT_EQ(count(quantized("7,5]\n  wd = DequantizeLinear(w, xs)\n  wt = Transpose(wd) perm=[1,0]"), "Region"), 2);
}

TEST(Qdq, ProductsOfFloat8OnGpus) {
  const std::string text = R"((x f32[4,16])
    xs = f32[]{0.01}
    xz = f8e4m3fn[]{0}
    w = constant f8e4m3fn[16,32]
    ws = constant f32[32]
    os = f32[]{0.5}
    q = QuantizeLinear(x, xs, xz)
    d = DequantizeLinear(q, xs, xz)
    wd = DequantizeLinear(w, ws) axis=1
    m = MatMul(d, wd)
    r = Relu(m)
    y = QuantizeLinear(r, os, xz)
  )";
  const ir::Graph allowed = run_all(text, 1, on_gpu(true));
  EXPECT_EQ(count(allowed, "MatMulFloat8"), 1) << ir::print(allowed);
  EXPECT_EQ(count(allowed, "MatMul") + count(allowed, "QuantizeLinear") + count(allowed, "DequantizeLinear"), 0) << ir::print(allowed);
  const ir::Graph refused = run_all(text, 1, on_gpu(false));
  EXPECT_EQ(count(refused, "MatMul"), 1) << ir::print(refused);
  EXPECT_EQ(count(refused, "MatMulFloat8") + count(refused, "QuantizeLinear"), 0) << ir::print(refused);
}

// Sums of integers, times the scales of rows and columns, may be beyond f16 on the way.
TEST(Qdq, RowsOnGpusKeepTheirScalesInFloats) {
  BuildConfig config;
  config.fp16 = true;
  ir::Graph graph = parse(R"((x f32[4,64])
    w = constant f32[64,16]
    u = constant f32[64,32]
    b = constant f32[16]
    m = MatMul(x, w)
    a = Add(m, b)
    y = Relu(a)
    v = MatMul(x, u) numerics={type=f8e4m3fn}
    z = Relu(v)
    return y, z)");
  const Pipeline pipeline = pipeline_for({.kind = "cuda", .arch = 90}, config, {.rows = true});
  run(graph, pipeline.precision);
  EXPECT_EQ(count(graph, "QuantizeRows"), 2) << ir::print(graph);
  EXPECT_EQ(count(graph, "MatMulInteger") * count(graph, "MatMulFloat8"), 1) << ir::print(graph);
  for (const auto& n : graph.nodes()) {
    EXPECT_TRUE(n->op() != "QuantizeRows" || n->in(0)->dtype() == DType::f16) << ir::print(graph);
    EXPECT_TRUE(n->op() != "Mul" || n->out()->dtype() == DType::f32) << ir::print(graph);
    EXPECT_TRUE(n->op() != "Relu" || n->out()->dtype() == DType::f32) << ir::print(graph);   // the last steps
  }
  run(graph, pipeline.fuse);
  EXPECT_EQ(count(graph, "Mul") + count(graph, "Add") + count(graph, "Relu") + count(graph, "Region"), 0) << ir::print(graph);
}

// Operands are quantized where they are made, and the result where it is computed: memory between holds e4m3 alone.
TEST(Qdq, AttentionOfFloat8OnGpus) {
  BuildConfig config;
  config.fp16 = true;
  std::string text = R"((x f32[2,32,64])
    s = f32[]{0.05}
    one = f32[]{0.00390625}
    z = f8e4m3fn[]{0}
    h = f32[]{8}
    heads = i64[4]{0,0,2,32}
    back = i64[3]{0,0,64}
    xq = QuantizeLinear(x, s, z)
    xd = DequantizeLinear(xq, s, z))";
  for (const std::string n : {"q", "k", "v"})
    text += "\n w" + n + " = constant f8e4m3fn[64,64]\n d" + n + " = DequantizeLinear(w" + n + ", s)\n m" + n + " = MatMul(xd, d" + n +
            ")\n r" + n + " = Reshape(m" + n + ", heads)\n t" + n + " = Transpose(r" + n + ") perm=[0,2," + (n == "k" ? "3,1" : "1,3") +
            "]\n b" + n + " = QuantizeLinear(t" + n + ", s, z)\n " + n + " = DequantizeLinear(b" + n + ", s, z)";
  text += R"(
    a = MatMul(q, k)
    b = Div(a, h)
    p = Softmax(b)
    pq = QuantizeLinear(p, one, z)
    pd = DequantizeLinear(pq, one, z)
    c = MatMul(pd, v)
    ct = Transpose(c) perm=[0,2,1,3]
    cr = Reshape(ct, back)
    y = QuantizeLinear(cr, s, z)
  )";
  ir::Graph graph = parse(text);
  run(graph, pipeline_for({.kind = "cuda", .arch = 90}, config, {.quantized = true}).in_order());
  EXPECT_EQ(count(graph, "AttentionFloat8"), 1) << ir::print(graph);
  EXPECT_EQ(count(graph, "Region"), 1) << "the input's\n" << ir::print(graph);
  EXPECT_EQ(count(graph, "Softmax") + count(graph, "Cast"), 0) << ir::print(graph);
  ir::Graph older = parse(text);
  run(older, pipeline_for({.kind = "cuda", .arch = 80}, config, {.quantized = true}).in_order());
  EXPECT_EQ(count(older, "AttentionFloat8") + count(older, "MatMulFloat8"), 0) << ir::print(older);
}

TEST(Qdq, ConvolutionsOfFloat8OnGpus) {
  const std::string text = R"((x f32[2,16,9,9])
    xs = f32[]{0.01}
    xz = f8e4m3fn[]{0}
    w = constant f8e4m3fn[32,16,3,3]
    ws = constant f32[32]
    b = constant f32[32]
    v = constant f8e4m3fn[32,1,3,3]
    os = f32[]{0.5}
    q = QuantizeLinear(x, xs, xz)
    d = DequantizeLinear(q, xs, xz)
    wd = DequantizeLinear(w, ws) axis=0
    m = Conv(d, wd, b) pads=[1,1,1,1] strides=[2,2]
    r = Relu(m)
    rq = QuantizeLinear(r, os, xz)
    rd = DequantizeLinear(rq, os, xz)
    vd = DequantizeLinear(v, xs)
    y = Conv(rd, vd) group=32
  )";
  const ir::Graph allowed = run_all(text, 0.05, on_gpu(true));
  EXPECT_EQ(count(allowed, "ConvFloat8"), 2) << ir::print(allowed);
  EXPECT_EQ(count(allowed, "Conv") + count(allowed, "QuantizeLinear") + count(allowed, "DequantizeLinear"), 0) << ir::print(allowed);
  const ir::Graph refused = run_all(text, 0.05, on_gpu(false));
  EXPECT_EQ(count(refused, "Conv"), 2) << ir::print(refused);
  EXPECT_EQ(count(refused, "ConvFloat8") + count(refused, "QuantizeLinear"), 0) << ir::print(refused);
}

TEST(Qdq, GpusTakeIntegersThatTensorCoresTake) {
  const auto products = [](const std::string& weight_zero, const std::string& depth) {
    const ir::Graph graph = run_all("(x u8[4," + depth + "])\n  xs = f32[]{0.05}\n  xz = u8[]{100}\n  w = constant i8[" + depth + R"(,32]
      ws = constant f32[32]
      wz = i8[]{)" + weight_zero + R"(}
      d = DequantizeLinear(x, xs, xz)
      wd = DequantizeLinear(w, ws, wz) axis=1
      y = MatMul(d, wd)
    )",
                                    1e-2, on_gpu(true));
    return count(graph, "MatMulInteger");
  };
  EXPECT_EQ(products("0", "16"), 1);
  EXPECT_EQ(products("3", "16"), 0);
  EXPECT_EQ(products("0", "20"), 0);
}

}  // namespace
}  // namespace tenfold::passes
