// Values that lie in no memory: strings, sequences, optionals, maps and tensors of unknown rank, which host steps alone read and write.
#include "builder/program/program_builder.h"

namespace tenfold::builder {

using backends::kPlain;
using ir::Value;
using plan::Operand;
using plan::Space;

namespace {

// Strings have extents as numbers have, which decide those of what is computed of them.
Operand described(DimTable& table, const Value* v, plan::Address at) {
  Operand o;
  o.at = at, o.dtype = DType::string;
  if (!v->type.is_tensor() || !v->type.ranked) return o;
  o.dims = table.add(v->dims());
  o.strides = table.add(backends::strides(kPlain, v->dims()));
  return o;
}

}  // namespace

Operand ProgramBuilder::bound_object(const Value* v, std::size_t binding) {
  if (objects_.empty()) objects_.resize(graph_.inputs.size() + graph_.outputs.size());
  objects_[binding] = v->type;
  object_index_.try_emplace(v, static_cast<std::int32_t>(binding));
  return described(table_, v, {Space::object, static_cast<std::int32_t>(binding), 0});
}

Operand ProgramBuilder::object(const Value* v) {
  if (v->is_constant()) {
    Operand o = described(table_, v, {Space::literal, constants_.add_literal(v->constant), 0});
    o.constant = true;
    return o;
  }
  if (objects_.empty()) objects_.resize(graph_.inputs.size() + graph_.outputs.size());
  const auto [at, fresh] = object_index_.try_emplace(v, static_cast<std::int32_t>(objects_.size()));
  if (fresh) objects_.push_back(v->type);
  Operand o = described(table_, v, {Space::object, at->second, 0});
  o.name = v->name;
  return o;
}

// An input, a literal, or what is an output twice: handed on by a step of the host.
void ProgramBuilder::add_object_to_output(const Value* v, std::int32_t binding) {
  const auto at = object_index_.find(v);
  if (at != object_index_.end() && at->second == binding) return;
  plan::Step step;
  step.kind = plan::StepKind::host, step.name = "output " + v->name, step.op = "Identity", step.anchor_inputs = 1;
  step.in.push_back(object(v));
  step.out.push_back(described(table_, v, {Space::object, binding, 0}));
  push(std::move(step));
}

}  // namespace tenfold::builder
