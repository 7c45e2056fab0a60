// What docs/guides/accuracy.md and build.h say of rounding: which products are exempt, and by how much the others differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "backends/backend.h"
#include "base/check.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "magnitudes.h"
#include "ops/cases.h"

namespace tenfold::tests {
namespace {

ir::Graph parse(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

bool rounds(const std::string& tactic) {
  static const auto backend = backends::open_backend("cpu");
  const auto& all = backend->tactics();
  return std::any_of(all.begin(), all.end(), [&](const backends::Tactic& t) { return t.name == tactic && t.rounds_f32; });
}

// Why the tactics that round were refused, each once; "" for those that were not.
std::set<std::string> answers(const std::string& text, int threads) {
  BuildConfig config;
  config.threads = threads, config.optimization_level = 1;
  BuildReport report;
  builder::build_graph(parse(text), config, "", &report);
  std::set<std::string> found;
  for (const StepReport& step : report.steps)
    for (const TacticReport& t : step.tried)
      if (rounds(t.tactic)) found.insert(t.verdict.find("64 KiB") != std::string::npos ? "small" : "other");
  return found;
}

std::string product(int rows, int k, int n) { return cat("(x f32[", rows, ",", k, "], w f32[", k, ",", n, "]!)\n y = MatMul(x, w)"); }

TEST(Rounding, DependsOnBytesAndNotOnThreads) {
  const std::set<std::string> small{"small"}, large{"other"};
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(answers(product(1, 256, 10), threads), small) << threads;
    EXPECT_EQ(answers(product(1, 100, 100), threads), small) << threads;
    EXPECT_EQ(answers(product(1, 127, 127), threads), small) << "65,532 bytes: operands and result" << threads;
    EXPECT_EQ(answers(product(1, 128, 127), threads), large) << "66,044 bytes" << threads;
    EXPECT_EQ(answers(product(1, 512, 512), threads), large) << threads;
    EXPECT_EQ(answers("(x f32[1,8,14,14], w f32[8,8,3,3]!)\n y = Conv(x, w) pads=[1,1,1,1]", threads), small) << threads;
    EXPECT_EQ(answers("(x f32[1,32,28,28], w f32[32,32,3,3]!)\n y = Conv(x, w) pads=[1,1,1,1]", threads), large) << threads;
  }
}

// The largest difference beside the largest result; -1 if this machine has no such tactic.
double error_of(const std::string& text, const std::string& op, const std::string& tactic) {
  const ir::Graph graph = parse(text);
  BuildConfig config;
  config.optimization_level = 1, config.forced_tactics = {{op, tactic}};
  const Engine engine = builder::build_graph(graph, config);
  if (engine.inspect().find(" " + tactic + " v") == std::string::npos) return -1;
  const Tensor x = ops::random_tensor(DType::f32, ir::constants(graph.inputs[0]->dims()), 3);
  const Tensor got = engine.create_context()->run({x})[0], expected = judge(graph, {x})[0].value;
  double worst = 0, largest = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(got.as_double(i) - expected.as_double(i)));
    largest = std::max(largest, std::abs(expected.as_double(i)));
  }
  return worst / largest;
}

TEST(Rounding, StaysWithinWhatIsSaidOfIt) {
  struct Row { std::string text, op, tactic; double max_error; };
  const char* conv = "(x f32[1,64,28,28], w f32[64,64,3,3]!)\n y = Conv(x, w) pads=[1,1,1,1]";
  constexpr double kUsual = 1e-5, kSixteenBits = 4e-5;
  // Of a layer, the states of all steps: those of the last hold the errors of all before.
  const char* lstm =
      "(x f32[50,1,100], w f32[1,400,100]!, r f32[1,400,100]!)\n k = f32[]{0.1}\n u = Mul(w, k)\n s = Mul(r, k)\n"
      " y, h, c = LSTM(x, u, s)\n return y";
  const char* gru =
      "(x f32[50,1,100], w f32[1,300,100]!, r f32[1,300,100]!)\n k = f32[]{0.1}\n u = Mul(w, k)\n s = Mul(r, k)\n"
      " y, h = GRU(x, u, s)\n return y";
  // Weights beyond what fixed point holds are multiplied as what their integers stand for.
  const char* large =
      "(x f32[5,1,100], w f32[1,400,100]!, r f32[1,400,100]!)\n k = f32[]{1e13}\n small = f32[]{1e-14}\n"
      " tenth = f32[]{0.1}\n u = Mul(w, k)\n s = Mul(r, tenth)\n t = Mul(x, small)\n y, h, c = LSTM(t, u, s)\n return y";
  int ran = 0;
  for (const Row& r :
       {Row{product(1, 768, 768), "MatMul", "matmul_gemv_f24", kUsual}, Row{product(8, 768, 3072), "MatMul", "matmul_gemv_f24", kUsual},
        Row{product(1, 3072, 768), "MatMul", "matmul_gemv_s16", kSixteenBits}, Row{lstm, "LSTM", "lstm_s16", kSixteenBits},
        Row{gru, "GRU", "gru_s16", kSixteenBits}, Row{large, "LSTM", "lstm_s16", kSixteenBits},
        Row{product(128, 768, 768), "MatMul", "matmul_strassen", kUsual}, Row{product(128, 768, 768), "MatMul", "matmul_amx_split", kUsual},
        Row{product(128, 768, 768), "MatMul", "matmul_amx_s24", kUsual}, Row{conv, "Conv", "conv_winograd", kUsual}}) {
    const double error = error_of(r.text, r.op, r.tactic);
    if (error < 0) {
      std::printf("left out: rounding_test: this CPU has no %s\n", r.tactic.c_str());
      continue;
    }
    ++ran;
    std::printf("%s: %.1e of the largest result\n", r.tactic.c_str(), error);
    EXPECT_LE(error, r.max_error) << r.tactic << "\n" << r.text;
    EXPECT_GT(error, 1e-8) << r.tactic << " rounds nothing?";
  }
  EXPECT_GE(ran, 3);   // every CPU has two ways and Winograd's
}

}  // namespace
}  // namespace tenfold::tests
