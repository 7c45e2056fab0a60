// The verifier accepts a good plan, and refuses each way in which a crafted one could reach outside its memory.
#include "plan/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "plan/extent.h"
#include "plan/sample_plan_for_tests.h"
#include "plan/verify_step.h"

namespace tenfold::plan {
namespace {

std::string refusal(const std::function<void(Plan&)>& change) {
  Plan plan = sample_plan();
  change(plan);
  try {
    const SampleDevice device;
    verify(plan, device.tactics(), ir::Registry::builtin());
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::plan_refused) << e.what();
    return e.what();
  }
  return "";
}
void expect_refused(const char* why, const std::function<void(Program&)>& change) {
  const std::string message = refusal([&](Plan& p) { change(p.programs[0]); });
  EXPECT_NE(message.find(why), std::string::npos) << "wanted '" << why << "', got '" << message << "'";
}

Operand& make_empty(Program& g, Operand& o) {
  g.dims.push_back(0);
  o.dense = false;
  o.dims[0] = static_cast<DimIndex>(g.dims.size() - 1);
  return o;
}

TEST(Verify, AcceptsTheSample) { EXPECT_EQ(refusal([](Plan&) {}), ""); }

TEST(Verify, Tables) {
  EXPECT_NE(refusal([](Plan& p) { p.constants[1].bytes = 65; }), "");
  EXPECT_NE(refusal([](Plan& p) { p.constants[1].offset = -64; }), "");
  EXPECT_NE(refusal([](Plan& p) { p.constants[0].offset = 8; }), "");
  EXPECT_NE(refusal([](Plan& p) { p.constants[0].bytes = INT64_MAX; }), "");
  EXPECT_NE(refusal([](Plan& p) { p.states[0].output = 1; }), "");
  EXPECT_NE(refusal([](Plan& p) { p.bindings[1].name = "x"; }), "");
  EXPECT_NE(refusal([](Plan& p) { p.bindings.pop_back(); }), "");
  EXPECT_NE(refusal([](Plan& p) { p.programs.clear(); }), "");
  EXPECT_NE(refusal([](Plan& p) { p.bindings[0].type.tensor.dtype = DType::string; }), "");
}

// Of 'c', a boolean, the default is a constant of one byte.
TEST(Verify, DefaultsSuitTheirInputs) {
  const auto with = [](std::size_t binding, std::int32_t constant, std::int64_t bytes) {
    return refusal([&](Plan& p) { p.bindings[binding].default_constant = constant, p.constants[0].bytes = bytes; });
  };
  EXPECT_EQ(with(1, 0, 1).find("default"), std::string::npos);
  for (const std::string& refused : {with(1, 0, 2), with(1, -2, 1), with(1, 99, 1), with(0, 0, 1), with(2, 0, 1)})
    EXPECT_NE(refused.find("for a default, which does not suit it"), std::string::npos) << refused;
}

TEST(Verify, SymbolsAndRanges) {
  expect_refused("range", [](Program& g) { g.box[0].min = -1; });
  expect_refused("range", [](Program& g) { g.box[0].max = INT64_MAX; });
  expect_refused("range", [](Program& g) { g.box[0].opt = 9; });
  expect_refused("not known", [](Program& g) { g.dims.push_back(ir::Dim::symbol("other")); });
  expect_refused("not known", [](Program& g) { g.symbols.push_back({"n", 0, ir::Dim::symbol("later"), ir::Origin::host_value}); });
  expect_refused("twice", [](Program& g) { g.symbols.push_back({"n"}), g.symbols.push_back({"n"}); });
  expect_refused("segments", [](Program& g) { g.segments[0].count = 2; });
  expect_refused("segments", [](Program& g) { g.segments = {{0, -1}, {-1, 4}}; });
  expect_refused("steps are precomputed", [](Program& g) { g.precomputed = static_cast<std::int32_t>(g.steps.size()) + 1; });
  expect_refused("steps are precomputed", [](Program& g) { g.precomputed = -1; });
  expect_refused("precomputed steps read rows of binding", [](Program& g) { g.precomputed = 1; });
  expect_refused("precomputed steps read rows of binding", [](Program& g) { g.precomputed = 1, g.rows_input = 9, g.rows_axis = 0; });
  expect_refused("precomputed steps read rows along axis", [](Program& g) { g.precomputed = 1, g.rows_input = 0, g.rows_axis = 9; });
}

TEST(Verify, OperandsStayInTheirSpace) {
  expect_refused("of 512", [](Program& g) { g.steps[0].out[0].at.offset = 512; });
  expect_refused("of 512", [](Program& g) { g.steps[0].out[0].at.offset = 388; });   // fits up to batch 7
  expect_refused("offset", [](Program& g) { g.steps[0].out[0].at.offset = -64; });
  expect_refused("offset", [](Program& g) { g.steps[0].out[0].at.offset = 2; });
  expect_refused("dim 4", [](Program& g) { g.steps[0].out[0].dims[0] = 4; });
  expect_refused("dim -1", [](Program& g) { g.steps[0].out[0].strides[0] = -1; });
  expect_refused("strides", [](Program& g) { g.steps[0].out[0].strides.pop_back(); });
  expect_refused("dense", [](Program& g) { g.steps[0].out[0].strides = {2, 1}; });
  expect_refused("of 16", [](Program& g) { g.steps[1].in[1].at.offset = 4; });
  expect_refused("there are 2", [](Program& g) { g.steps[1].in[1].at.index = 2; });
  expect_refused("there are 2", [](Program& g) { g.steps[1].in[1].at.index = -1; });
  expect_refused("there are 3", [](Program& g) { g.steps[0].in[0].at.index = 3; });
  expect_refused("blocks", [](Program& g) { g.steps[0].out[0].layout.block = 3; });
  expect_refused("strings", [](Program& g) { g.steps[0].in[0].dtype = DType::string; });
  // Inside its binding at the largest batch, outside at the smallest.
  expect_refused("binding 0", [](Program& g) {
    g.dims.push_back(8);
    g.steps[0].in[0].dims[0] = 4;
  });
  expect_refused("binding 2", [](Program& g) { g.steps[2].out[0].at.offset = 4; });
}

// Nothing may be read there, but a kernel that looks at a first element all the same must find memory of the plan.
TEST(Verify, EmptyOperandsStartInTheirSpaceToo) {
  expect_refused("starts after the 512 bytes", [](Program& g) { make_empty(g, g.steps[0].out[0]).at.offset = 516; });
  expect_refused("starts after the 16 bytes", [](Program& g) { make_empty(g, g.steps[1].in[1]).at.offset = 1 << 20; });
  expect_refused("starts after the 128 bytes", [](Program& g) { make_empty(g, g.steps[0].in[0]).at.offset = INT64_MAX - 3; });
}

TEST(Verify, WritesOnlyWhatMayBeWritten) {
  expect_refused("written", [](Program& g) { g.steps[0].out[0].at = {Space::weights, 0, 0}; });
  expect_refused("written", [](Program& g) { g.steps[0].out[0].at = {Space::binding, 0, 0}; });
  expect_refused("no place", [](Program& g) { g.steps[0].out[0].at = {}; });
  expect_refused("overlaps the workspace", [](Program& g) { g.steps[0].out[0].at.offset = 64; });
  expect_refused("workspace", [](Program& g) { g.steps[0].workspace_bytes = INT64_MAX; });
  expect_refused("workspace", [](Program& g) { g.steps[0].workspace_offset = -64; });
  expect_refused("overlaps operand 0", [](Program& g) { g.steps[1].out[0].at.offset = 64; });
  expect_refused("overlaps operand 0", [](Program& g) { g.steps[1].out[0].at.offset = 0; });   // a host step never works in place
}

TEST(Verify, InPlaceOnlyWhereTheTacticAllowsIt) {
  const auto in_place = [](Program& g, const char* tactic) {
    g.steps[0].tactic = tactic;
    g.steps[0].in[0].at = g.steps[0].out[0].at;
  };
  EXPECT_EQ(refusal([&](Plan& p) { in_place(p.programs[0], "in_place"); }), "");
  expect_refused("overlaps", [&](Program& g) { in_place(g, "sample"); });
  expect_refused("overlaps", [&](Program& g) { in_place(g, "in_place"), g.steps[0].in[0].at.offset = 16; });
  // The tactic is asked only once it can trust that its operands are there.
  expect_refused("its body has 2 inputs", [&](Program& g) { in_place(g, "in_place"), g.steps[0].in.pop_back(); });
}

TEST(Verify, TacticsAreAskedAgain) {
  expect_refused("no tactic", [](Program& g) { g.steps[0].tactic = "other"; });
  expect_refused("version", [](Program& g) { g.steps[0].tactic_version = 2; });
  expect_refused("tile", [](Program& g) { g.steps[0].config = {16}; });
  expect_refused("64 bytes of workspace", [](Program& g) { g.steps[0].workspace_bytes = 63; });
  expect_refused("packed", [](Program& g) { g.steps[0].in[1].packed = false; });
  expect_refused("packed operand 1 has 16", [](Program& g) { g.steps[0].in[1].at.index = 0; });
  expect_refused("no attribute 'surprise'", [](Program& g) { g.steps[0].attributes.set("surprise", 1); });
  expect_refused("own operands", [](Program& g) { g.steps[0].anchor_inputs = 3; });
  expect_refused("body", [](Program& g) { g.steps[0].body.code[1].a = 9; });
  expect_refused("its body has 2 inputs", [](Program& g) { g.steps[0].in.pop_back(); });
}

TEST(Verify, NoAttributeAllowsRounding) {
  for (const char* name : {"precision", "round_to", "winograd", "strassen", "fast_exp", "exact", "numerics"}) {
    expect_refused("no attribute", [&](Program& g) { g.steps[0].attributes.set(name, std::string("bf16")); });
    for (const ir::OpDef* op : ir::Registry::builtin().all()) {
      EXPECT_EQ(op->optional_attributes.find(name), nullptr) << op->name;
    }
  }
}

TEST(Verify, ResultsAreWhatTheOperatorGives) {
  expect_refused("the operator gives", [](Program& g) { g.steps[1].out[0].dims[0] = 3; });
  expect_refused("the operator gives", [](Program& g) { g.steps[1].out[0].dtype = DType::i32; });
  expect_refused("no control flow", [](Program& g) { g.steps[1].attributes.set("graphs", ir::Strings{}); });
  expect_refused("No", [](Program& g) { g.steps[1].op = "NoSuchOperator"; });
}

// Fuzzing found it: the axis had no element, and was read all the same.
TEST(Verify, AnOperandReadAsOneNumberHoldsOne) {
  expect_refused("the axis has 0 elements, 1 expected", [](Program& g) {
    Step& step = g.steps[1];
    step.op = "CumSum", step.attributes = {{"axis", 0}, {"exclusive", 0}, {"reverse", 0}};
    make_empty(g, step.in[1]).dtype = DType::i64;
  });
}

TEST(Verify, PointwiseOperatorsHaveTheirOperands) {
  for (const std::size_t missing : {0, 1})
    expect_refused("of Pow is missing", [&](Program& g) { g.steps[1].op = "Pow", g.steps[1].in[missing] = {}; });
}

TEST(Verify, OperandsAreAllTheOperatorsOwnWhereNothingElseReadsThem) {
  expect_refused("1 own operands of 2 and no body", [&](Program& g) { g.steps[1].kind = StepKind::kernel, g.steps[1].anchor_inputs = 1; });
}

// The body behind a kernel reads what the kernel gives and what else the step has, each in its own type.
TEST(Verify, BodiesTakeTheTypesOfTheirOperands) {
  const auto with_body = [](std::vector<DType> types) {
    return [types](Program& g) {
      Step& step = g.steps[1];
      step.kind = StepKind::kernel, step.tactic = "sample", step.tactic_version = 3, step.config = {16, -1};
      step.has_body = true, step.anchor_inputs = 1, step.op = "Softmax", step.attributes.set("axis", -1);
      step.body = {types, {{ir::Prim::abs, types[0], 0}}, {static_cast<std::uint16_t>(types.size())}, 0};
    };
  };
  expect_refused("tactic 'sample' computes Region", with_body({DType::f32, DType::f32}));   // nothing is wrong with the body
  expect_refused("its epilogue takes f64, it gives f32", with_body({DType::f64, DType::f32}));
  expect_refused("operand 1 is f32, its epilogue takes f64", with_body({DType::f32, DType::f64}));
  expect_refused("its body has 1 inputs, 2 are given", with_body({DType::f32}));
  expect_refused("a host step with an epilogue",
                 [&](Program& g) { with_body({DType::f32, DType::f32})(g), g.steps[1].kind = StepKind::host; });
}

TEST(Verify, BranchesGiveTheirBodiesWhatTheyExpect) {
  expect_refused("bytes of arena", [](Program& g) { g.steps[2].programs[0].arena_bytes = 257; });
  expect_refused("programs", [](Program& g) { g.steps[2].programs.pop_back(); });
  expect_refused("condition", [](Program& g) { g.steps[2].in[0].at = {}; });
  expect_refused("not one element", [](Program& g) {
    Operand& c = g.steps[2].in[0];
    c.at = {Space::arena, 0, 0}, c.dims = {0}, c.strides = {2};
  });
  expect_refused("the step gives", [](Program& g) { g.steps[2].programs[0].inputs[0].dims = {1, 1}; });
  expect_refused("of 256", [](Program& g) {
    Step& step = g.steps[2].programs[0].steps[0];
    step.out[0].at = {Space::arena, 0, 192};
  });
  expect_refused("owns programs", [](Program& g) { g.steps[1].programs = g.steps[2].programs; });
}

// The region becomes a step that defines the size n of its result, which lies in a growing buffer.
void grow(Program& g) {
  const ir::Dim n = ir::Dim::symbol("n");
  g.symbols.push_back({"n", 4, ir::kUnbounded, ir::Origin::host_value});
  g.dims.insert(g.dims.end(), {n, n * 8});   // 4 and 5
  g.grown = {5};
  Step& step = g.steps[0];
  step = Step{};
  step.kind = StepKind::host, step.name = "non_zero", step.op = "NonZero", step.defines = {1};
  Operand found;
  found.at = {Space::grown, 0, 0}, found.dtype = DType::i64, found.dims = {2, 4}, found.strides = {4, 2};
  step.in = {g.inputs[0]}, step.out = {found};
  step.in[0].dims = {0}, step.in[0].strides = {2};
  Step& next = g.steps[1];
  next.op = "Abs", next.in = {found}, next.out = {found};
  next.out[0].at = {Space::grown, 1, 0}, g.grown.push_back(5);
  g.steps.resize(2);
  g.segments = {{0, 1}, {1, 1}};
}

TEST(Verify, GrowingBuffersAreUsedOnceTheirSizeIsKnown) {
  EXPECT_EQ(refusal([](Plan& p) { grow(p.programs[0]); }), "");
  EXPECT_NE(refusal([](Plan& p) { grow(p.programs[0]), p.programs[0].precomputed = 1; }).find("step 0 is precomputed and defines sizes"),
            std::string::npos);
  const auto changed = [](auto change) {
    return [change](Program& g) { grow(g), change(g); };
  };
  expect_refused("no step before it defines", changed([](Program& g) { std::swap(g.steps[0], g.steps[1]); }));
  expect_refused("no step before it defines", changed([](Program& g) { g.steps[0].defines.clear(); }));
  expect_refused("no step before it defines", changed([](Program& g) {   // constant extents in a buffer without a size
    Operand& precomputed = g.steps[0].in[0];
    precomputed.at = {Space::grown, 1, 0}, precomputed.dims = {1}, precomputed.strides = {2};
  }));
  expect_refused("known already", changed([](Program& g) { g.steps[1].kind = StepKind::host, g.steps[1].defines = {1}; }));
  expect_refused("defines symbol 0", changed([](Program& g) { g.steps[0].defines = {0}; }));
  expect_refused("defines symbol 2", changed([](Program& g) { g.steps[0].defines = {2}; }));
  expect_refused("there are 2", changed([](Program& g) { g.steps[1].out[0].at.index = 2; }));
  expect_refused("growing buffer has dim", changed([](Program& g) { g.grown[0] = 6; }));
  expect_refused("ends at byte", changed([](Program& g) { g.grown[1] = 4; }));
  expect_refused("ends at byte", changed([](Program& g) { g.steps[1].out[0].at.offset = 8; }));
  expect_refused("starts after", changed([](Program& g) { make_empty(g, g.steps[1].in[0]).at.offset = std::int64_t{1} << 50; }));
  expect_refused("shape of an input", changed([](Program& g) { g.inputs[0].dims[0] = 4; }));
}

// A step may have thousands of them: they are not compared in pairs.
TEST(Overlaps, ColumnsOfOneParentAreApart) {
  const Plan plan = sample_plan();
  const SampleDevice device;
  const backends::TacticSet tactics = device.tactics();
  constexpr std::int64_t kPieces = 300, kColumns = 3, kRow = kPieces * kColumns;
  const std::vector<ir::Dim> dims{2, kColumns, kRow, 1};
  const VerifyScope scope{.plan = plan, .tactics = tactics, .registry = ir::Registry::builtin(), .dims = dims,
                          .top = plan.programs[0], .corners = {{2, kColumns, kRow, 1}}};
  Step step;
  step.kind = StepKind::host;
  for (std::int64_t k = kPieces; k-- > 0;) {
    Operand& o = step.out.emplace_back();
    o.at = {Space::arena, 0, 64 + 4 * kColumns * k}, o.dims = {0, 1}, o.strides = {2, 3}, o.dense = false;
  }
  EXPECT_NO_THROW(verify_overlaps(scope, step));
  for (const std::int64_t wrong : {-4, 4}) {   // a column of the neighbor before, or behind
    Step moved = step;
    moved.out[100].at.offset += wrong;
    EXPECT_THROW(verify_overlaps(scope, moved), Error) << wrong;
  }
  step.out[100].at.offset = 64 + 4 * kRow;   // another piece's second row
  EXPECT_THROW(verify_overlaps(scope, step), Error);
}

TEST(Extents, AreExactForValues) {
  const Plan plan = sample_plan();
  const Program& g = plan.programs[0];
  EXPECT_TRUE(extents_fit(plan, g, std::vector<std::int64_t>{8, 4, 1, 4}, {}));
  EXPECT_FALSE(extents_fit(plan, g, std::vector<std::int64_t>{33, 4, 1, 17}, {}));   // beyond the arena
  EXPECT_FALSE(extents_fit(plan, g, std::vector<std::int64_t>{-1, 4, 1, 0}, {}));
  EXPECT_FALSE(extents_fit(plan, g, std::vector<std::int64_t>{INT64_MAX, 4, 1, 0}, {}));
  Operand o = g.steps[0].out[0];
  const std::vector<std::int64_t> dims{3, 20, 320, 16};
  o.dims = {0, 1, 3}, o.strides = {2, 3, 3};   // 3 x 20 x 16, rows that overlap
  o.at.offset = 64;
  EXPECT_EQ(byte_range(o, dims)->end, 64 + 4 * (2 * 320 + 19 * 16 + 15 * 16 + 1));
  o.dims[0] = 1, o.at.offset = 0;
  EXPECT_TRUE(byte_range(o, std::vector<std::int64_t>{3, 0, 1, 1})->empty());
}

}  // namespace
}  // namespace tenfold::plan
