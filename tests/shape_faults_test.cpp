// Bad extents of a build: for every operator, whatever a profile makes of its operands' shapes, the error names the node, its operator and
// the model's file, and what was fixed because nobody gave it.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "builder/builder.h"
#include "ops/cases.h"

namespace tenfold {
namespace {

// The case with the extents of its inputs open: "x0_1" is the second of the first.
struct OpenCase {
  ir::Graph graph;
  std::vector<Shape> shapes;   // that the case has, of each input
};
std::optional<OpenCase> open_case(const ir::OpDef& op, const ops::Case& c) {
  ir::Graph closed = ops::case_graph(ir::Registry::builtin(), op, c);
  OpenCase open{std::move(closed), {}};
  for (ir::Value* v : open.graph.inputs) {
    open.shapes.push_back(ir::constants(v->dims()));
    for (std::size_t d = 0; d < v->dims().size(); ++d)
      v->type.tensor.dims[d] = open.graph.new_symbol(v->name + "_" + std::to_string(d), 0, ir::kUnbounded, ir::Origin::input_dim);
  }
  try {
    for (const auto& node : open.graph.nodes()) open.graph.infer(*node);
  } catch (const Error&) {   // it has to know an extent
    return {};
  }
  return open;
}

Shape changed(const Shape& shape, std::mt19937& random) {
  Shape other = shape;
  for (std::int64_t& extent : other)
    if (random() % 2 == 0) extent = static_cast<std::int64_t>(random() % 7) + (random() % 4 == 0 ? extent : 0);
  return other;
}

struct Tally { int cases = 0, refused = 0; };

void try_case(const ir::OpDef& op, const std::string& text, Tally& tally) {
  const std::optional<OpenCase> open = open_case(op, ops::parse_case(op, text));
  if (!open || open->shapes.empty()) return;
  ++tally.cases;
  std::mt19937 random(static_cast<std::uint32_t>(tally.cases));
  for (int round = 0; round < 6; ++round) {
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1, config.device = "null";
    OptimizationProfile& profile = config.profiles.emplace_back();
    for (std::size_t i = 0; i < open->shapes.size(); ++i) {
      if (round == 5 && i == 0) continue;   // nobody gives it: it is fixed to 1
      const Shape shape = changed(open->shapes[i], random);
      profile[open->graph.inputs[i]->name] = {shape, shape, shape};
    }
    try {
      builder::build_graph(open->graph, config, "a_model.onnx");
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::invalid_model && e.kind() != ErrorKind::unsupported) continue;
      ++tally.refused;
      const std::string words = e.what();
      EXPECT_EQ(words.rfind("a_model.onnx: ", 0), 0u) << words;
      EXPECT_NE(words.find("node '"), std::string::npos) << words;
      EXPECT_NE(words.find("(" + op.name + ")"), std::string::npos) << words;
      if (round == 5 && !open->shapes[0].empty()) {
        EXPECT_NE(words.find("was fixed to 1 (give its extents: config.profiles = {{"), std::string::npos) << words;
      }
    }
  }
}

TEST(ShapeFaults, NameNodeOperatorAndFile) {
  Tally tally;
  for (const ir::OpDef* op : ir::Registry::builtin().all())
    for (const std::string& text : op->cases) {
      SCOPED_TRACE(op->name + " " + text);
      try_case(*op, text, tally);
    }
  EXPECT_GT(tally.cases, 500);
  EXPECT_GT(tally.refused, 500);
  std::printf("%d cases, %d refused\n", tally.cases, tally.refused);
}

}  // namespace
}  // namespace tenfold
