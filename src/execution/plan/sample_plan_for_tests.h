// For tests: a small plan made by hand that holds every kind of field, and a backend whose one tactic can run it.
#pragma once

#include "backends/tactic_set.h"
#include "base/files/hash.h"
#include "plan/plan.h"

namespace tenfold::plan {

// y = If(c, Relu(z), z), z = region(x) + w, with a symbolic batch; the region is max(x, 0) times a packed weight.
inline Plan sample_plan() {
  Plan p;
  p.device.kind = "sample", p.device.name = "a machine", p.device.features = p.needs = backends::kAvx2 | backends::kVnni;
  p.model_name = "sample.onnx", p.builder = "tenfold test";
  const ir::Dim batch = ir::Dim::symbol("batch");
  p.bindings = {{"x", {.tensor = {DType::f32, {batch, 4}}}, true},
                {"c", {.tensor = {DType::boolean, {}}}, true},
                {"y", {.tensor = {DType::f32, {batch, 4}}}, false}};
  p.states = {{0, 0}};
  static constexpr float kWeights[32] = {1, 2, 3, 4};
  p.weights = reinterpret_cast<const std::byte*>(kWeights), p.weights_bytes = sizeof kWeights;
  p.constants = {{"w", 0, 16, hash64({p.weights, 16})}, {"packed", 64, 64, hash64({p.weights + 64, 64})}};
  p.portable = "graph as text";
  p.built = {"12:ab", "fp16=0", {{"processor", 3'000'000}}};

  Program& g = p.programs.emplace_back();
  g.box = {{"batch", 1, 4, 8}};
  g.symbols = {{"batch", 1, 8, ir::Origin::input_dim}};
  g.dims = {batch, 4, 1, floor_div(batch + 1, 2)};
  const auto operand = [](Space space, int index, std::int64_t offset, std::string name) {
    Operand o;
    o.at = {space, index, offset}, o.dims = {0, 1}, o.strides = {1, 2}, o.name = std::move(name);
    return o;
  };
  Operand c = operand(Space::binding, 1, 0, "c"), w = operand(Space::weights, 0, 0, "w"), packed = operand(Space::weights, 1, 0, "scale");
  c.dtype = DType::boolean, c.dims = c.strides = {};
  w.dims = {1}, w.strides = {2}, w.constant = true;
  packed.dims = {1}, packed.strides = {2}, packed.constant = packed.packed = true;
  g.inputs = {operand(Space::binding, 0, 0, "x"), c}, g.outputs = {operand(Space::binding, 2, 0, "y")};
  g.arena_bytes = 512, g.arena_live_bytes = 256;

  Step& region = g.steps.emplace_back();
  region.name = "region", region.op = "Region", region.tactic = "sample", region.tactic_version = 3, region.config = {16, -1};
  region.has_body = true;
  region.body = {{DType::f32, DType::f32},
                 {{ir::Prim::constant, DType::f32, 0, 0, 0, 0.0}, {ir::Prim::max, DType::f32, 0, 2}, {ir::Prim::mul, DType::f32, 3, 1}},
                 {4},
                 0};
  region.in = {operand(Space::binding, 0, 0, "x"), packed}, region.out = {operand(Space::arena, 0, 0, "scaled")};
  region.workspace_offset = 128, region.workspace_bytes = 64;
  Step& add = g.steps.emplace_back();
  add.kind = StepKind::host, add.name = "add", add.op = "Add";
  add.in = {operand(Space::arena, 0, 0, "scaled"), w}, add.out = {operand(Space::arena, 0, 128, "sum")};
  Step& branch = g.steps.emplace_back();
  branch.kind = StepKind::branch, branch.name = "if", branch.op = "If";
  branch.in = {c, operand(Space::arena, 0, 128, "sum")}, branch.out = {operand(Space::binding, 2, 0, "y")};
  branch.workspace_offset = 256, branch.workspace_bytes = 256;
  for (const char* op : {"Relu", "Identity"}) {
    Program& body = branch.programs.emplace_back();
    body.inputs = {operand(Space::binding, 0, 0, "sum")}, body.outputs = {operand(Space::binding, 1, 0, "y")};
    body.arena_bytes = 256;
    Step& step = body.steps.emplace_back();
    step.kind = std::string(op) == "Relu" ? StepKind::host : StepKind::copy;
    step.name = std::string("body/") + op, step.op = op;
    step.in = body.inputs, step.out = body.outputs;
    body.segments = {{0, 1}};
  }
  g.segments = {{0, 3}};
  return p;
}

class SampleDevice {
 public:
  SampleDevice() {
    backends::Tactic t;
    t.name = "sample", t.version = 3, t.ops = {"Region"};
    t.supports = [](const backends::Problem& p) { return backends::Verdict::only_if(p.in[0].dtype == DType::f32, "only f32"); };
    t.configs = [](const backends::Problem&) { return std::vector<backends::Config>{{16, -1}}; };
    t.valid = [](const backends::Problem&, const backends::Config& c) {
      return backends::Verdict::only_if(c == backends::Config{16, -1}, "tile");
    };
    t.workspace = [](const backends::Problem& p, const backends::Config&) { return p.in[0].dims[0] * 8; };
    t.packed_bytes = [](const backends::Problem&, const backends::Config&, int input) -> std::int64_t { return input == 1 ? 64 : -1; };
    tactics_.push_back(t);
    t.name = "in_place";
    t.may_alias = [](const backends::Problem& p, int in, int) { return in == 0 && p.in.at(1).constant; };
    tactics_.push_back(t);
    info_.kind = "sample";
  }
  backends::TacticSet tactics() const { return {info_, tactics_}; }

 private:
  backends::DeviceInfo info_;
  std::vector<backends::Tactic> tactics_;
};

}  // namespace tenfold::plan
