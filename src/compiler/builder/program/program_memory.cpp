// Memory of one program: where results are stored, copies in other layouts, constants, lifetimes, and the arena.
#include "backends/tactic_set.h"
#include "base/checked.h"
#include "builder/program/program_builder.h"
#include "memory/problem.h"
#include "plan/extent.h"
#include "plan/step_problem.h"

namespace tenfold::builder {

using backends::kPlain;
using backends::Layout;
using ir::Dim;
using ir::Value;
using plan::Space;
using plan::Step;
using plan::StepKind;

plan::DimIndex DimTable::add(Dim d) {
  auto [it, fresh] = index.try_emplace(d.text(), static_cast<plan::DimIndex>(dims.size()));
  if (fresh) dims.push_back(d);
  return it->second;
}
std::vector<plan::DimIndex> DimTable::add(const ir::Dims& list) {
  std::vector<plan::DimIndex> out;
  for (Dim d : list) out.push_back(add(d));
  return out;
}
std::int32_t DimTable::symbol(const std::string& name) const {
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].name == name) return static_cast<std::int32_t>(i);
  return -1;
}

bool DimTable::is_input_symbol(const std::string& name) const {
  const std::int32_t number = symbol(name);
  return number >= 0 && symbols[static_cast<std::size_t>(number)].origin == ir::Origin::input_dim;
}

bool ProgramBuilder::must_grow(Dim bytes) const {
  return plan::must_grow(bytes, box_, [this](const std::string& symbol) { return table_.is_input_symbol(symbol); });
}

namespace {
plan::Address add_growing(DimTable& table, Dim bytes) {
  table.grown.push_back(table.add(bytes));
  return {Space::grown, static_cast<std::int32_t>(table.grown.size() - 1), 0};
}
Dim bytes_in(const Value* v, Layout layout) {
  const Dim elements = backends::storage_elements(layout, v->dims());
  const int width = bits(v->dtype());
  return width >= 8 ? elements * Dim(width / 8) : ceil_div(elements * Dim(width), Dim(8));
}
}  // namespace

// A place in the arena, or a buffer that the context allocates once the size is known.
plan::Address ProgramBuilder::new_place(Dim bytes) {
  if (!must_grow(bytes)) return {Space::arena, new_buffer(bytes), 0};
  return add_growing(table_, bytes);
}
plan::Address ProgramBuilder::new_place(const Value* v, Layout layout) { return new_place(bytes_in(v, layout)); }
plan::Address ProgramBuilder::new_growing_place(const Value* v) { return add_growing(table_, bytes_in(v, kPlain)); }

std::int32_t ProgramBuilder::new_buffer(Dim bytes) {
  const std::int64_t upper = bytes.bounds(box_).upper;
  require(upper >= 0 && upper < std::int64_t{1} << 46, ErrorKind::unsupported, "a buffer of ", bytes.text(),
          " bytes has no usable upper bound");
  buffers_.push_back({bytes, upper});
  return static_cast<std::int32_t>(buffers_.size() - 1);
}

bool DimTable::knows(const ir::Dims& list) const {
  return std::all_of(list.begin(), list.end(), [&](Dim d) {
    const std::vector<std::string> names = d.symbols();
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return symbol(name) >= 0; });
  });
}

std::int32_t ProgramBuilder::binding_for(const Value* v) const {
  const Value* const root_of = storage_.output_of_root(v);
  const auto output = output_index_.find(root_of ? root_of : v);
  if (output == output_index_.end() || late_.contains(output->first)) return -1;
  return static_cast<std::int32_t>(graph_.inputs.size() + output->second);
}

// Gives a result its memory: an output's binding, a part of its root, or a buffer.
const ProgramBuilder::Stored& ProgramBuilder::store_result(const Value* v, Layout layout) {
  if (auto it = stored_.find({v, layout}); it != stored_.end()) return it->second;
  // Written already, in a layout that differs in name only: a second buffer would never be filled.
  for (auto it = stored_.lower_bound({v, kPlain}); it != stored_.end() && it->first.first == v; ++it)
    if (it->second.dense && backends::same_as_plain(layout, v->dims()) && backends::same_as_plain(it->second.layout, v->dims()))
      return it->second;
  Stored s{{}, layout, true, {}};
  if (const View* view = storage_.view(v)) {
    const Value* root = view->root;
    s.at = root->is_constant() ? plan::Address{Space::weights, constants_.add(root->name, root->constant), 0}
                               : store_result(root, view->root_layout).at;
    const Dim offset = view->offset * Dim(bits(v->dtype()) / 8);
    require(offset.is_constant(), ErrorKind::internal, "a view at the symbolic offset ", offset.text());
    // What is always empty starts where its root does: a plan's operands never start behind their memory.
    if (ir::product(v->dims()).bounds(box_).upper > 0) s.at.offset += offset.constant();
    s.dense = view->dense;
    s.strides = view->strides;
  } else if (const std::int32_t binding = layout == kPlain ? binding_for(v) : -1; binding >= 0) {
    s.at = {Space::binding, binding, 0};
  } else {
    s.at = new_place(v, layout);
  }
  return stored_.emplace(Key{v, layout}, std::move(s)).first->second;
}

plan::Operand ProgramBuilder::operand(const Value* v, const Stored& s) {
  plan::Operand o;
  o.at = s.at;
  o.dtype = v->dtype();
  o.dims = table_.add(v->dims());
  o.strides = table_.add(s.dense ? backends::strides(s.layout, v->dims()) : s.strides);
  o.layout = s.layout;
  o.dense = s.dense;
  if (!v->is_constant()) o.name = v->name;   // a constant has its name in the plan's table
  return o;
}

// A constant in the layout asked for. Only plain order is stored, but a layout that says nothing new needs no copy.
plan::Operand ProgramBuilder::constant(const Value* v, Layout layout) {
  Stored s{{Space::weights, constants_.add(v->name, v->constant), 0}, kPlain, true, {}};
  if (layout != kPlain && !backends::same_as_plain(layout, v->dims())) return operand(v, reformatted(v, s, layout));
  plan::Operand o = operand(v, s);
  o.constant = true;
  o.layout = layout;
  if (layout != kPlain) o.strides = table_.add(backends::strides(layout, v->dims()));
  return o;
}

const backends::Problem& ProgramBuilder::problem_of(const ir::Node& node, const tune::NodeChoice& choice) {
  const auto known = problems_.find(&node);
  if (known != problems_.end()) return known->second;
  return problems_.emplace(&node, stored_problem(node, choice, storage_, box_, backend_.info())).first->second;
}

// What a kernel packs: all of a program at once, for that takes longer than all else that is done for its steps.
void ProgramBuilder::pack_weights() {
  std::vector<ConstantPool::ToPack> all;
  std::vector<std::pair<const ir::Node*, int>> whose;
  for (const auto& node : graph_.nodes()) {
    const auto chosen = choice_.find(node.get());
    if (chosen == choice_.end() || !chosen->second.tactic || !chosen->second.tactic->packed_bytes || !storage_.needs_step(*node)) continue;
    const tune::NodeChoice& choice = chosen->second;
    const backends::Problem& problem = problem_of(*node, choice);
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const Value* v = node->inputs[i];
      const auto input = static_cast<int>(i);
      const std::int64_t bytes = v && v->is_constant() ? choice.tactic->packed_bytes(problem, choice.config, input) : -1;
      if (bytes < 0) continue;
      std::vector<SharedConstant> constants;
      for (const Value* operand : node->inputs) constants.push_back(operand ? operand->constant : nullptr);
      const auto pack = [node = node.get(), &problem, &choice, input](void* memory) {
        std::vector<const Tensor*> tensors;
        for (const Value* operand : node->inputs) tensors.push_back(operand && operand->constant ? &operand->constant->tensor : nullptr);
        try {
          choice.tactic->pack(problem, choice.config, input, tensors, memory);
        } catch (Error& e) {
          throw e.within("packing weights of node '" + node->name + "' (" + node->op() + ")");
        }
      };
      const std::string packing = cat(choice.tactic->name, " ", choice.tactic->version, " ", tenfold::text(choice.config));
      const bool rounds = choice.tactic->rounds_f32 || (v->dtype() == DType::f32 && node->numerics.allows(ir::Rounding::bf16));
      all.push_back({v->name, std::move(constants), input, bytes, packing, rounds, pack});
      whose.emplace_back(node.get(), input);
    }
  }
  const std::vector<std::int32_t> indices = constants_.add(all);
  for (std::size_t i = 0; i < whose.size(); ++i) packed_.emplace(whose[i], indices[i]);
}

plan::Operand ProgramBuilder::packed(const Value* v, std::int32_t index) {
  plan::Operand o;
  o.at = {Space::weights, index, 0};
  o.dtype = v->dtype();
  o.dims = table_.add(v->dims());
  o.strides = table_.add(backends::strides(kPlain, v->dims()));
  o.constant = o.packed = true;
  return o;
}

// An operand for a reader that wants `layout`: the value as it lies, or a copy made once.
plan::Operand ProgramBuilder::read(const Value* v, Layout layout, bool allow_strided) {
  if (v->is_constant()) return constant(v, layout);
  if (auto it = stored_.find({v, layout}); it != stored_.end() && (it->second.dense || allow_strided)) return operand(v, it->second);
  const Stored* from = nullptr;
  for (auto it = stored_.lower_bound({v, kPlain}); it != stored_.end() && it->first.first == v; ++it)
    if (!from || it->second.dense) from = &it->second;
  check(from != nullptr, "'", v->name, "' is read before it is stored");
  if (from->dense && backends::same_as_plain(layout, v->dims()) && backends::same_as_plain(from->layout, v->dims())) {
    Stored same = *from;   // the layouts differ in name only
    same.layout = layout;
    return operand(v, stored_.emplace(Key{v, layout}, same).first->second);
  }
  return operand(v, reformatted(v, *from, layout));
}

// A copy of a value in another layout, or of a strided view in dense order: an output's plain order where the caller wants it.
const ProgramBuilder::Stored& ProgramBuilder::reformatted(const Value* v, const Stored& from, Layout layout) {
  const bool replaces = !from.dense && from.layout == layout;   // the dense copy serves later readers too
  const std::int32_t binding = layout == kPlain && from.at.space != Space::binding ? binding_for(v) : -1;
  Stored s{binding >= 0 ? plan::Address{Space::binding, binding, 0} : new_place(v, layout), layout, true, {}};
  Step step;
  step.name = v->name + " to " + backends::text(layout), step.op = "Reformat";
  step.in.push_back(operand(v, from));
  step.in[0].constant = from.at.space == Space::weights;
  step.out.push_back(operand(v, s));
  step.anchor_inputs = 1;
  const backends::Problem problem = plan::step_problem(step, table_.dims, box_, backend_.info(), graph_.registry());
  std::string why_not;
  const backends::Tactic* found = nullptr;
  for (const backends::Tactic* t : backends::TacticSet(backend_).of(graph_.registry().get("Reformat"))) {
    const backends::Verdict verdict = t->supports(problem);
    if (verdict && !found) found = t;
    if (!verdict) why_not = verdict.reason;
  }
  check(found != nullptr, "'", v->name, "' cannot be brought to ", backends::text(layout), ": ", why_not);
  const backends::Tactic& tactic = *found;
  step.tactic = tactic.name, step.tactic_version = tactic.version, step.config = tactic.configs(problem).at(0);
  push(std::move(step));
  if (replaces) return stored_[{v, layout}] = std::move(s);
  return stored_.emplace(Key{v, layout}, std::move(s)).first->second;
}

void ProgramBuilder::touch(const plan::Operand& o) {
  if (o.at.space != Space::arena) return;
  Buffer& b = buffers_[static_cast<std::size_t>(resolve(o.at.index))];
  const auto now = static_cast<std::int32_t>(steps_.size());
  if (b.first < 0) b.first = now;
  b.last = now;
}
void ProgramBuilder::push(Step step) {
  for (const plan::Operand& o : step.in) touch(o);
  for (const plan::Operand& o : step.out) touch(o);
  steps_.push_back(std::move(step));
}
std::int32_t ProgramBuilder::resolve(std::int32_t b) const {
  while (buffers_[static_cast<std::size_t>(b)].merged_into >= 0) b = buffers_[static_cast<std::size_t>(b)].merged_into;
  return b;
}

// The result may take the memory of an operand that is read here for the last time.
void ProgramBuilder::merge_in_place(const Step& step, const backends::Problem& problem, const backends::Tactic& tactic) {
  if (!tactic.may_alias || step.out.size() != 1) return;
  const plan::Operand& out = step.out[0];
  if (out.at.space != Space::arena || out.at.offset != 0 || !out.dense) return;
  in_place_.push_back({steps_.size() - 1, {}});
  for (std::size_t i = 0; i < step.in.size(); ++i) {
    const plan::Operand& in = step.in[i];
    const bool same = in.at.space == Space::arena && in.at.offset == 0 && in.dense && in.dims == out.dims && in.layout == out.layout &&
                      bits(in.dtype) == bits(out.dtype);
    if (same && tactic.may_alias(problem, static_cast<int>(i), 0)) in_place_.back().second.push_back(static_cast<std::int32_t>(i));
  }
}

void ProgramBuilder::place(plan::Program& program) {
  for (const auto& [step, buffer] : workspaces_) {
    Buffer& b = buffers_[static_cast<std::size_t>(buffer)];
    b.first = b.last = static_cast<std::int32_t>(step);
  }
  for (const auto& [number, inputs] : in_place_) {   // lifetimes are complete now: merge where the operand dies here
    const Step& step = steps_[number];
    const std::int32_t result = resolve(step.out[0].at.index);
    // The same memory may be read by a further operand, which the tactic does not let the result overlap (a residual, say).
    const auto read_elsewhere = [&, &inputs = inputs](std::int32_t buffer) {   // by name: clang 14 captures no structured binding
      for (std::size_t i = 0; i < step.in.size(); ++i)
        if (step.in[i].at.space == Space::arena && resolve(step.in[i].at.index) == buffer &&
            std::find(inputs.begin(), inputs.end(), static_cast<std::int32_t>(i)) == inputs.end())
          return true;
      return false;
    };
    for (std::int32_t i : inputs) {
      const std::int32_t source = resolve(step.in[static_cast<std::size_t>(i)].at.index);
      Buffer &from = buffers_[static_cast<std::size_t>(source)], &to = buffers_[static_cast<std::size_t>(result)];
      if (source == result || from.last != static_cast<std::int32_t>(number) || to.first != static_cast<std::int32_t>(number) ||
          from.bytes != to.bytes || read_elsewhere(source))
        continue;
      from.last = to.last;
      to.merged_into = source;
      break;
    }
  }
  memory::Problem problem;
  std::vector<std::int32_t> number(buffers_.size(), -1);
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (buffers_[b].merged_into >= 0 || buffers_[b].first < 0) continue;
    number[b] = static_cast<std::int32_t>(problem.buffers.size());
    problem.buffers.push_back({buffers_[b].first, buffers_[b].last, round_up(std::max<std::int64_t>(buffers_[b].upper, 1), 64), 64});
  }
  const memory::Solution solution = memory::solve(problem);
  memory::validate(problem, solution);
  program.arena_bytes = solution.height;
  program.arena_live_bytes = memory::lower_bound(problem);
  const auto offset = [&](std::int32_t b) {
    return solution.offsets[static_cast<std::size_t>(number[static_cast<std::size_t>(resolve(b))])];
  };
  for (Step& step : steps_)
    for (auto* list : {&step.in, &step.out})
      for (plan::Operand& o : *list)
        if (o.at.space == Space::arena) o.at.offset += offset(o.at.index), o.at.index = 0;
  for (const auto& [step, buffer] : workspaces_) {
    steps_[step].workspace_offset = offset(buffer);
    steps_[step].workspace_bytes = buffers_[static_cast<std::size_t>(buffer)].upper;
  }
}

}  // namespace tenfold::builder
