// Data of a run that no step can compute with: for every operator, whatever its short operands hold at run time, the answer is right or
// names the data's fault. None is called a bug, and the context works on afterwards.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <random>

#include "base/types/element.h"
#include "builder/builder.h"
#include "ops/cases.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

constexpr std::int64_t kMaxElements = 16;   // of an operand that says what to do: sizes, axes, indices, scales

// As plans for data: whoever is short and no weight is given by the caller.
bool is_data(const ops::CaseOperand& o) {
  return !o.missing && o.data.dtype() != DType::string && o.data.size() <= kMaxElements && o.data.rank() <= 1;
}

// Sizes are small or beyond any memory, so that no test fills the machine's.
const std::int64_t kExtremes[] = {std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::min() + 1,
                                  -(std::int64_t{1} << 62),
                                  -3,
                                  -2,
                                  -1,
                                  0,
                                  1,
                                  2,
                                  3,
                                  5,
                                  std::int64_t{1} << 62,
                                  std::numeric_limits<std::int64_t>::max()};
const double kFloats[] = {NAN, INFINITY, -INFINITY, -1e300, -1, -0.0, 0, 1e-30, 0.5, 1, 2, 1e300};

class Mutations {
 public:
  explicit Mutations(std::uint32_t seed) : random_(seed) {}
  // One element, or all of them.
  void mutate(Tensor& t) {
    if (t.size() == 0) return;
    const bool all = random_() % 3 == 0;
    const std::int64_t only = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(t.size()));
    for (std::int64_t i = 0; i < t.size(); ++i) {
      if (!all && i != only) continue;
      if (is_float(t.dtype())) store_double(t.dtype(), t.mutable_raw(), i, kFloats[random_() % std::size(kFloats)]);
      else store_int(t.dtype(), t.mutable_raw(), i, kExtremes[random_() % std::size(kExtremes)]);
    }
  }

 private:
  std::mt19937 random_;
};

bool is_fault_of_data(Status::Code code) {
  return code == Status::invalid_input || code == Status::bad_index || code == Status::too_large || code == Status::out_of_memory;
}

struct Tally {
  int built = 0, refused = 0, runs = 0;
  std::set<std::string> refusing;   // operators
};

Status run(ExecutionContext& context, const std::vector<Tensor>& inputs, int bindings) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const Status s = context.set_input_shape(static_cast<int>(i), inputs[i].shape()); !s) return s;
    if (const Status s = context.bind(static_cast<int>(i), const_cast<void*>(inputs[i].raw()), inputs[i].bytes()); !s) return s;
  }
  for (int b = static_cast<int>(inputs.size()); b < bindings; ++b) context.own_memory(b);
  return context.run();
}

void try_case(const ir::OpDef& op, const std::string& text, std::uint32_t seed, Tally& tally) {
  ops::Case c = ops::parse_case(op, text);
  std::vector<std::size_t> data;   // operands that the runs change, by their number among the inputs
  std::vector<Tensor> inputs;
  for (ops::CaseOperand& o : c.operands) {
    if (o.missing) continue;
    if (is_data(o)) o.constant = false, data.push_back(inputs.size());
    if (!o.constant) inputs.push_back(o.data);
  }
  if (data.empty()) return;
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  std::unique_ptr<ExecutionContext> context;
  std::optional<Engine> engine;
  try {
    engine = builder::build_graph(ops::case_graph(ir::Registry::builtin(), op, c), config);
    for (const BindingInfo& b : engine->bindings())
      if (binds_values(*engine, engine->binding_index(b.name))) return;
    context = engine->create_context();
  } catch (const Error& e) {   // a build has to know what this operand holds
    EXPECT_NE(e.kind(), ErrorKind::internal) << op.name << " " << text << ": " << e.what();
    return;
  }
  const int bindings = static_cast<int>(engine->bindings().size());
  const Status plain = run(*context, inputs, bindings);
  EXPECT_TRUE(plain) << op.name << " " << text << ": " << context->describe(plain);
  ++tally.built;
  Mutations mutations(seed);
  for (int round = 0; round < 24; ++round) {
    std::vector<Tensor> changed = inputs;
    for (const std::size_t i : data)
      if (data.size() == 1 || round % (data.size() + 1) == i % (data.size() + 1) || round % 5 == 4) {
        changed[i] = changed[i].clone();
        mutations.mutate(changed[i]);
      }
    const Status status = run(*context, changed, bindings);
    ++tally.runs;
    if (status) continue;
    ++tally.refused, tally.refusing.insert(op.name);
    std::string given;
    for (const std::size_t i : data)
      for (std::int64_t e = 0; e < changed[i].size(); ++e) given += " " + std::to_string(changed[i].as_double(e));
    const std::string words = context->describe(status);
    EXPECT_TRUE(is_fault_of_data(status.code)) << op.name << " " << text << given << ": " << words;
    if (status.code != Status::out_of_memory) {
      EXPECT_NE(words.find("operand "), std::string::npos) << "no value is named: " << words;
    }
    EXPECT_NE(words.find(op.name), std::string::npos) << "the step is not named: " << words << " by" << given;
  }
  const Status again = run(*context, inputs, bindings);
  EXPECT_TRUE(again) << "of no use after refusals: " << op.name << " " << text << ": " << context->describe(again);
}

TEST(HostileData, NoAnswerOfAnyOperatorIsABug) {
  Tally tally;
  std::uint32_t seed = 1;
  for (const ir::OpDef* op : ir::Registry::builtin().all())
    for (const std::string& text : op->cases) {
      SCOPED_TRACE(op->name + " " + text);
      try_case(*op, text, seed++, tally);
    }
  EXPECT_GT(tally.built, 300) << "of the operators' cases, most can be built with sizes that the run gives";
  EXPECT_GT(tally.refused, 1000);
  for (const char* op : {"CenterCropPad", "ConstantOfShape", "Expand", "Gather", "OneHot", "Pad", "Range", "Reshape", "Resize",
                         "ReverseSequence", "ScatterElements", "Slice", "Split", "Tile", "TopK"})
    EXPECT_TRUE(tally.refusing.count(op)) << op << " was never given what it refuses";
  std::printf("%d cases, %d runs, %d refused by %zu operators\n", tally.built, tally.runs, tally.refused, tally.refusing.size());
}

}  // namespace
}  // namespace tenfold
