// Constants of more axes than the data: every graph in a picture is given one constant after the other with leading axes of 1, up to the
// rank of the result that it is read for and beyond, where it adds axes to that. Rules must leave such graphs with the same meaning.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <optional>

#include "ir/text.h"
#include "passes/pipeline.h"
#include "pictures.h"

namespace tenfold {
namespace {

using tests::parse_picture, tests::Picture, tests::pictures_of;

int rank_read_for(const ir::Value& v) {
  int rank = 0;
  for (const ir::Node* n : v.users)
    if (n->out() && n->out()->type.is_tensor()) rank = std::max(rank, n->out()->rank());
  return rank;
}

std::vector<ir::Value*> constants_of(const ir::Graph& graph) {
  std::vector<ir::Value*> found;
  for (const auto& v : graph.values())
    if (v->is_constant() && is_float(v->dtype()) && v->constant->tensor.size() > 0 && !v->users.empty()) found.push_back(v.get());
  return found;
}

// The graph with constant number `which` of this rank; nothing where the operators do not take it so.
std::optional<ir::Graph> with_rank(const std::string& text, std::size_t which, int rank) {
  ir::Graph graph = parse_picture(text);
  ir::Value* v = constants_of(graph)[which];
  if (v->rank() >= rank) return std::nullopt;
  Shape shape(static_cast<std::size_t>(rank - v->rank()), 1);
  const Shape& own = v->constant->tensor.shape();
  shape.insert(shape.end(), own.begin(), own.end());
  Tensor more(v->dtype(), shape);
  std::memcpy(more.mutable_raw(), v->constant->tensor.raw(), static_cast<std::size_t>(more.bytes()));
  ir::Value* const other = graph.add_constant(std::move(more), v->name + "_more");
  for (ir::Node* n : std::vector<ir::Node*>(v->users))
    for (std::size_t i = 0; i < n->inputs.size(); ++i)
      if (n->inputs[i] == v) graph.set_input(*n, static_cast<int>(i), other);
  try {
    for (const auto& n : graph.nodes()) graph.infer(*n);
    tests::results(graph);
  } catch (const Error&) {
    return std::nullopt;
  }
  graph.sweep();
  return graph;
}

double tolerance(const std::string& pass, const std::string& text) {
  const bool rounds = pass.starts_with("quantize_rows") || pass.ends_with("_to_float8") || pass == "fuse_float8_attention";
  return text.find("QuantizeLinear") != std::string::npos || pass == "remove_qdq" ? 0.1 : rounds ? 0.05 : 1e-4;
}

struct List {
  std::string name;
  std::vector<passes::Pass> passes;
};

int tried = 0, changed = 0;
void try_with(const ir::Graph& graph, const std::string& text, const List& list) {
  SCOPED_TRACE(list.name + " on\n" + ir::print(graph) + "from\n" + text);
  ir::Graph rewritten = graph.clone();
  ASSERT_NO_THROW(passes::run(rewritten, list.passes, {.changed = [](std::string_view, const ir::Graph&) { ++changed; }}));
  tests::expect_same_meaning(tests::results(graph), tests::results(rewritten), tolerance(list.name, text));
  ++tried;
}

TEST(ConstantAxes, ChangeNoRulesMeaning) {
  std::vector<List> lists;
  for (const char* kind : {"cpu", "cuda"})
    lists.push_back({kind, passes::pipeline_for({.kind = kind, .features = ~0u, .arch = 90}, {}).in_order()});
  for (const char* folder : {"src/compiler/passes/rules", "src/compiler/passes/precision"})
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(TENFOLD_SOURCE_DIR) / folder)) {
      const std::string name = file.path().stem();
      std::vector<List> own = lists;
      if (std::string_view(folder).ends_with("rules") && file.path().extension() == ".cpp" && !name.ends_with("_test"))
        own.push_back({name, {passes::find_pass(name)}});
      for (const Picture& picture : pictures_of(file.path())) {
        const ir::Graph plain = parse_picture(picture.before);
        const std::vector<ir::Value*> constants = constants_of(plain);
        for (std::size_t c = 0; c < constants.size(); ++c) {
          const int rank = rank_read_for(*constants[c]);
          for (int more = 0; more < 3; ++more)
            if (const std::optional<ir::Graph> graph = with_rank(picture.before, c, rank + more))
              for (const List& list : own) try_with(*graph, picture.before, list);
        }
      }
    }
  EXPECT_GT(tried, 300);
  EXPECT_GT(changed, 300);
}

}  // namespace
}  // namespace tenfold
