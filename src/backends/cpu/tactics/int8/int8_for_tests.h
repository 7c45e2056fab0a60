// What the tests of the int8 tactics share: problems as text with random data, epilogues of quantized layers, exact comparison.
#pragma once

#include "backends/cpu/feature_sets.h"
#include "backends/cpu/tactics/int8/int8_common.h"
#include "backends/tactic_for_tests.h"

namespace tenfold::backends::testing {

struct Int8Case {
  std::string op, text;  // ops/cases.h
  std::optional<ir::Body> body = {};
  std::vector<std::string> extra = {};  // operands of the body, as in a case
  DType out = DType::i32;
};

// Sweeps every instruction set and config; results may differ from the reference by `quantum`, and, if `same_bits`, not from each other.
inline void check_int8(const Tactic& tactic, const Int8Case& c, double quantum, bool same_bits = false) {
  SCOPED_TRACE(c.op + " " + c.text);
  const ir::OpDef& op = ir::Registry::builtin().get(c.op);
  const ops::Case parsed = ops::parse_case(op, c.text);
  ir::Graph graph(ir::Registry::builtin());
  std::vector<ir::Value*> inputs;
  std::vector<Tensor> operands;
  const auto add = [&](const ops::CaseOperand& o) {
    operands.push_back(o.data);
    if (o.missing) return inputs.push_back(nullptr);
    const std::string name = "x" + std::to_string(inputs.size());
    inputs.push_back(o.constant
                         ? graph.add_constant(o.data, name)
                         : graph.add_input(name, {.tensor = {o.data.dtype(), ir::to_dims(o.data.shape())}}));
  };
  for (const ops::CaseOperand& o : parsed.operands) add(o);
  ir::Node node;
  node.def = &op;
  node.attributes = parsed.attributes, node.numerics = parsed.numerics;
  if (c.body) {
    node.body = c.body;
    node.anchor_inputs = static_cast<int>(inputs.size());
    for (const std::string& text : c.extra) add(ops::parse_case(op, text).operands[0]);
  }
  node.inputs = inputs;
  graph.outputs = {graph.add(std::move(node), 1)->out()};
  const std::vector<ops::RuntimeValue> expected = ops::run_node(*graph.nodes().front(), as_values(operands));
  const Tensor& truth = std::get<Tensor>(expected[0]);
  std::optional<Tensor> first;
  for (const std::uint32_t features : feature_sets()) {
    TacticRun run(tactic, graph, features);
    if (tactic.formats) run.use(tactic.formats(run.problem).front());
    const Verdict verdict = tactic.supports(run.problem);
    ASSERT_TRUE(verdict.yes) << verdict.reason;
    for (const Config& config : tactic.configs(run.problem)) {
      if (tactic.valid) {
        ASSERT_TRUE(tactic.valid(run.problem, config).yes) << tactic.valid(run.problem, config).reason;
      }
      Serial serial;
      Backwards backwards;
      const Tensor y = run.run(config, operands, serial)[0], again = run.run(config, operands, backwards)[0];
      ASSERT_EQ(y.shape(), truth.shape());
      EXPECT_EQ(0, std::memcmp(y.raw(), again.raw(), static_cast<std::size_t>(y.bytes()))) << "results depend on the order of parts";
      if (!first) first = y;
      if (same_bits) {
        EXPECT_EQ(0, std::memcmp(y.raw(), first->raw(), static_cast<std::size_t>(y.bytes())))
            << "features " << feature_text(features) << ", config {" << config[0] << "," << config[1] << "," << config.back() << "}";
      }
      double worst = 0;
      for (std::int64_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::abs(y.as_double(i) - truth.as_double(i)));
      EXPECT_LE(worst, quantum) << "features " << feature_text(features) << ", config {" << config[0] << "," << config[1] << ","
                                << config.back() << "}";
    }
  }
}

// Epilogues of quantized layers: operand 0 is the sum, 1 and 2 are scale and bias of each column.
struct EpilogueBuilder : ir::BodyBuilder {
  using Id = std::uint16_t;
  using ir::BodyBuilder::BodyBuilder;
  Id number(double v) { return constant(DType::f32, v); }
  Id scaled() { return binary(ir::Prim::add, binary(ir::Prim::mul, cast(0, DType::f32), 1), 2); }
  Id quantized(Id x, double scale, double zero, DType to) {
    x = unary(ir::Prim::round_even, binary(ir::Prim::div, x, number(scale)));
    if (zero != 0) x = binary(ir::Prim::add, x, number(zero));
    return emit({.prim = ir::Prim::saturate, .dtype = to, .a = x});
  }
  // Quantized and dequantized again.
  Id on_grid(Id x, double scale, double zero, DType grid = DType::u8) {
    x = cast(quantized(x, scale, zero, grid), DType::f32);
    if (zero != 0) x = binary(ir::Prim::sub, x, number(zero));
    return binary(ir::Prim::mul, x, number(scale));
  }
};

// acc * scale[column] + bias[column], quantized to `to`; with a residual of type `residual` before that if it is not i32.
inline ir::Body quantized_epilogue(DType to, double scale, double zero, DType residual = DType::i32, bool relu = false,
                                   double residual_zero = 7) {
  std::vector<DType> inputs{DType::i32, DType::f32, DType::f32};
  if (residual != DType::i32) inputs.push_back(residual);
  EpilogueBuilder b(inputs);
  std::uint16_t y = b.scaled();
  if (residual != DType::i32) {
    std::uint16_t r = residual == DType::f32 ? std::uint16_t{3} : b.cast(3, DType::f32);
    if (residual != DType::f32 && residual_zero != 0) r = b.binary(ir::Prim::sub, r, b.number(residual_zero));
    y = b.binary(ir::Prim::add, b.binary(ir::Prim::mul, r, b.number(0.25)), y);
  }
  if (relu) y = b.binary(ir::Prim::max, y, b.number(0));
  return b.finish({to == DType::f32 ? y : b.quantized(y, scale, zero, to)});
}

}  // namespace tenfold::backends::testing
