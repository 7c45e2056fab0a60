// What the tests of the f32 tactics share: problems and epilogues as text, checked for every format, config and instruction set.
#pragma once

#include <cmath>

#include "backends/cpu/cpu_info.h"
#include "backends/tactic_for_tests.h"
#include "ir/scan.h"

namespace tenfold::backends::testing {

struct F32Case {
  std::string op, text;                 // ops/cases.h
  std::string body = "";                // ir/body.h, empty: none
  std::vector<std::string> extra = {};  // operands of the body, as in a case
};

class F32Problem {
 public:
  explicit F32Problem(const F32Case& c, std::uint64_t seed = 1) : graph(ir::Registry::builtin()) {
    const ir::OpDef& op = ir::Registry::builtin().get(c.op);
    const ops::Case parsed = ops::parse_case(op, c.text, seed);
    for (const ops::CaseOperand& o : parsed.operands) add(o);
    ir::Node node;
    node.def = &op;
    node.attributes = parsed.attributes, node.numerics = parsed.numerics;
    if (!c.body.empty()) {
      ir::Scanner scanner(c.body);
      node.body = ir::parse_body(scanner);
      node.anchor_inputs = static_cast<int>(inputs_.size());
      for (const std::string& text : c.extra) add(ops::parse_case(op, text, seed + 100 + inputs_.size()).operands[0]);
    }
    node.inputs = inputs_;
    graph.outputs = {graph.add(std::move(node), 1)->out()};
  }
  Tensor truth() const { return std::get<Tensor>(ops::run_node(*graph.nodes().front(), as_values(operands))[0]); }

  ir::Graph graph;
  std::vector<Tensor> operands;

 private:
  void add(const ops::CaseOperand& o) {
    operands.push_back(o.data);
    if (o.missing) return inputs_.push_back(nullptr);
    const std::string name = "x" + std::to_string(inputs_.size());
    inputs_.push_back(o.constant
                          ? graph.add_constant(o.data, name)
                          : graph.add_input(name, {.tensor = {o.data.dtype(), ir::to_dims(o.data.shape())}}));
  }
  std::vector<ir::Value*> inputs_;
};

// The largest difference, relative to the largest element of the truth.
inline double relative_difference(const Tensor& y, const Tensor& truth) {
  double worst = 0, largest = 1e-30;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const double a = y.as_double(i), b = truth.as_double(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    worst = std::max(worst, std::isnan(a - b) ? 1e30 : std::abs(a - b));
    if (!std::isnan(b)) largest = std::max(largest, std::abs(b));
  }
  return worst / largest;
}

inline bool has_amx() { return (cpu::this_cpu().features & kAmxBf16) != 0; }

// Every config on this CPU as it is, in the first format; results must not depend on the order of parts.
inline void check_on_this_cpu(const Tactic& tactic, const F32Problem& problem, double tolerance,
                              std::uint32_t features = cpu::this_cpu().features) {
  const Tensor truth = problem.truth();
  TacticRun run(tactic, problem.graph, features);
  if (tactic.formats) run.use(tactic.formats(run.problem).front());
  const Verdict verdict = tactic.supports(run.problem);
  ASSERT_TRUE(verdict.yes) << verdict.reason;
  for (const Config& config : tactic.configs(run.problem)) {
    ASSERT_TRUE(tactic.valid(run.problem, config).yes);
    Serial serial;
    Backwards backwards;
    const Tensor y = run.run(config, problem.operands, serial)[0], again = run.run(config, problem.operands, backwards)[0];
    ASSERT_EQ(y.dtype(), truth.dtype());
    EXPECT_EQ(0, std::memcmp(y.raw(), again.raw(), static_cast<std::size_t>(y.bytes()))) << "results depend on the order of parts";
    EXPECT_LE(relative_difference(y, truth), tolerance);
  }
}
inline void check_on_this_cpu(const Tactic& tactic, const F32Case& c, double tolerance,
                              std::uint32_t features = cpu::this_cpu().features) {
  SCOPED_TRACE(c.op + " " + c.text + " " + c.body);
  check_on_this_cpu(tactic, F32Problem(c), tolerance, features);
}

// Packed and unpacked, the weight (operand 1) is what it was, bit for bit.
inline void check_unpacks(const Tactic& tactic, const F32Problem& problem, std::optional<Config> config = {}) {
  TacticRun run(tactic, problem.graph, cpu::this_cpu().features);
  if (tactic.formats) run.use(tactic.formats(run.problem).front());
  if (!config) config = tactic.configs(run.problem)[0];
  const Tensor& weight = problem.operands[1];
  std::vector<char> packed(static_cast<std::size_t>(tactic.packed_bytes(run.problem, *config, 1)));
  const std::vector<const Tensor*> constants{nullptr, &weight, nullptr};
  tactic.pack(run.problem, *config, 1, constants, packed.data());
  const Tensor back = tactic.unpack(run.problem, *config, 1, packed.data());
  EXPECT_EQ(0, std::memcmp(back.raw(), weight.raw(), static_cast<std::size_t>(weight.bytes()))) << "unpacking gives another weight";
}

// Infinities and values that are no numbers stand where the truth has them, and nowhere else. How many the truth has.
inline int check_special_values(const Tensor& y, const Tensor& truth) {
  int special = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const double a = y.as_double(i), b = truth.as_double(i);
    special += !std::isfinite(b);
    EXPECT_TRUE(std::isfinite(b) ? std::isfinite(a) : std::isnan(b) ? std::isnan(a) : a == b) << a << " for " << b;
  }
  return special;
}

// Sweeps instruction sets, formats and configs (and `more` configs); results must not depend on the order of parts.
inline void check_f32(const Tactic& tactic, const F32Case& c, double tolerance = 2e-6, const std::vector<Config>& more = {}) {
  SCOPED_TRACE(c.op + " " + c.text + " " + c.body);
  F32Problem problem(c);
  const Tensor truth = problem.truth();
  for (const std::uint32_t features : {std::uint32_t{kAvx2}, kAvx2 | kAvx512}) {
    if ((cpu::this_cpu().features & features) != features) continue;
    TacticRun run(tactic, problem.graph, features);
    const Problem plain = run.problem;
    for (const Formats& formats :
         tactic.formats ? tactic.formats(plain) : std::vector<Formats>{{std::vector<Layout>(plain.in.size()), {Layout{}}}}) {
      run.problem = plain;
      run.use(formats);
      const Verdict verdict = tactic.supports(run.problem);
      ASSERT_TRUE(verdict.yes) << verdict.reason;
      std::vector<Config> configs = tactic.configs(run.problem);
      configs.insert(configs.end(), more.begin(), more.end());
      for (const Config& config : configs) {
        const Verdict valid = tactic.valid(run.problem, config);
        if (!valid.yes && config[0] != 0 && !(features & kAvx512)) continue;
        ASSERT_TRUE(valid.yes) << valid.reason;
        Serial serial;
        Backwards backwards;
        const Tensor y = run.run(config, problem.operands, serial)[0], again = run.run(config, problem.operands, backwards)[0];
        ASSERT_EQ(y.shape(), truth.shape());
        EXPECT_EQ(0, std::memcmp(y.raw(), again.raw(), static_cast<std::size_t>(y.bytes()))) << "results depend on the order of parts";
        std::string numbers;
        for (const std::int64_t v : config) numbers += " " + std::to_string(v);
        EXPECT_LE(relative_difference(y, truth), tolerance)
            << run.problem.line() << "; features " << feature_text(features) << ", config" << numbers;
      }
    }
  }
}

}  // namespace tenfold::backends::testing
