// Every name that ONNX models may write, with something about its node made wrong: an error that names the node or a right result, but no
// crash, no hang and no memory without bounds. Nobody writes these nodes: they come from the operators' table, and so do those of a new
// operator. TENFOLD_HOSTILE=N tries N nodes of each name.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "as_interpreted.h"
#include "hostile_batches.h"
#include "hostile_node.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

enum Count { kTried, kRan, kBuilt, kRefused };

int nodes_of_each() {
  const char* const asked = std::getenv("TENFOLD_HOSTILE");
  return asked ? std::atoi(asked) : kSanitized ? 10 : 40;
}

// The words of a refusal have to say where: by the node's name or that of something that it reads or gives, or that it is the model.
bool says_where(const std::string& words) {
  for (const char* part : {"victim", "'x", "'y", "imports version 0 of domain", "the graph has no outputs"})
    if (words.find(part) != std::string::npos) return true;
  return false;
}

// The same nodes of a name whatever other names there are.
std::uint32_t seed_of(const onnx_ops::Known& known) {
  std::uint32_t hash = 2166136261u;
  for (const char c : known.domain + "." + known.name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

void run(const Engine& engine, const HostileNode& node) {
  for (const HostileOperand& o : node.operands)
    if (!o.missing && !o.constant && !o.declared.empty()) return;
  std::vector<RuntimeValue> inputs;
  for (Tensor& t : inputs_of(node)) inputs.emplace_back(std::move(t));
  run_values(*engine.create_context(), inputs);
}

void attack(const HostileNode& node, const std::string& what, BatchState& progress) {
  progress.tell(what);
  ++progress.counts[kTried];
  bool built = false;
  try {
    ir::Graph graph = onnx_import::import_model(model_of(node));
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    const Engine engine = builder::build_graph(std::move(graph), config);
    built = true;
    ++progress.counts[kBuilt];
    run(engine, node);
    ++progress.counts[kRan];
  } catch (const Error& e) {
    ++progress.counts[kRefused];
    if (e.kind() == ErrorKind::internal) progress.complain("a bug: " + what + ": " + e.what());
    else if (!built && e.kind() != ErrorKind::out_of_memory && !says_where(e.what())) progress.complain("where? " + what + ": " + e.what());
  } catch (const std::exception& e) {
    progress.complain("no Error: " + what + ": " + e.what());
  }
}

TEST(HostileNodes, GiveAnErrorOrAResult) {
  const std::vector<onnx_ops::Known> names = onnx_ops::known(ir::Registry::builtin());
  const int each = nodes_of_each();
  int counts[8] = {};
  in_batches(names.size(), [&](std::size_t i, BatchState& progress) {
    std::mt19937 random(seed_of(names[i]));
    const std::vector<HostileNode> from = bases(names[i]);
    for (int n = 0; n < each; ++n) {
      const HostileNode node = mutated(from[random() % from.size()], random);
      attack(node, cat(node.domain, node.domain.empty() ? "" : ".", node.op, " ", node.opset, " #", n, ": ", node.mutation), progress);
    }
  }, counts);
  std::printf("%d nodes of %zu names: %d built, %d ran, %d refused\n", counts[kTried], names.size(), counts[kBuilt], counts[kRan],
              counts[kRefused]);
  EXPECT_GT(counts[kRan], counts[kTried] / 20);
  EXPECT_GT(counts[kRefused], counts[kTried] / 5);
}

// Without a change most cases of the table run: what is attacked above are not nodes that are refused for their form alone.
TEST(HostileNodes, StartFromNodesThatRun) {
  const std::vector<onnx_ops::Known> names = onnx_ops::known(ir::Registry::builtin());
  int counts[8] = {};
  in_batches(names.size(), [&](std::size_t i, BatchState& progress) {
    attack(bases(names[i]).front(), cat(names[i].domain, ".", names[i].name), progress);
  }, counts);
  EXPECT_GT(counts[kRan], 150) << "of " << counts[kTried];
}

// What they have found: an axis that is named twice, also by more axes than there are dims; a constant without elements, which is all that
// a plan has of weights.
TEST(HostileNodes, FoundTheseFaults) {
  for (const char* axes : {"[1,1]", "[0,1,0,1,1]", "[-1,1,0]"})
    expect_as_interpreted(cat("(x f32[2,3])\n y = ReduceSum(x) axes=", axes), sets({{"f32[2,3]{1,2,3,4,5,6}"}}));
  expect_as_interpreted("(x f32[4])\n none = f32[0,4]{}\n y = Sub(none, x)", sets({{"f32[4]{1,2,3,4}"}}));
}

}  // namespace
}  // namespace tenfold
