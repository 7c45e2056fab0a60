// One step of a plan against its space, its operator and its tactic.
#include "plan/verify_step.h"

#include <algorithm>

#include "ir/signature.h"
#include "plan/extent.h"
#include "plan/format.h"
#include "plan/step_node.h"
#include "plan/step_problem.h"

namespace tenfold::plan {
namespace {

ir::Dim dim_at(const VerifyScope& scope, DimIndex i) { return scope.dims[static_cast<std::size_t>(i)]; }
ir::Dims dims_at(const VerifyScope& scope, const std::vector<DimIndex>& indices) {
  ir::Dims result;
  for (DimIndex i : indices) result.push_back(dim_at(scope, i));
  return result;
}

// Words are made where something is wrong: every operand of a plan comes by here, four times.
struct Place {
  const Address& at;
};
std::ostream& operator<<(std::ostream& out, const Place& place) {
  static constexpr const char* kNames[] = {"nowhere", "constant", "the arena", "binding", "growing buffer", "object", "literal"};
  return out << kNames[static_cast<std::size_t>(place.at.space)] << " " << place.at.index << " + " << place.at.offset;
}
Place place(const Operand& o) { return {o.at}; }

// Of an operand whose memory changes its size with the shapes: at both ends of the box. Where it is empty, only its start counts.
template <class Capacity>
void verify_at_corners(const VerifyScope& scope, const Operand& o, Capacity&& capacity_at) {
  std::int64_t largest = scope.corners.empty() ? o.at.offset : 0;
  for (const auto& values : scope.corners) {
    const std::optional<ByteRange> range = byte_range(o, values);
    const std::optional<std::int64_t> capacity = capacity_at(values);
    largest = std::max(largest, capacity.value_or(o.at.offset));
    must(!range || !capacity || range->empty() || (range->first >= 0 && range->end <= *capacity), "an operand at ", place(o),
         " ends at byte ", range ? range->end : 0, " of ", capacity.value_or(0));
  }
  must(o.at.offset <= largest, "an operand at ", place(o), " starts after the ", largest, " bytes there");
}

// Inside fixed memory over the whole box; a growing buffer is sized in the run, where the runtime compares again.
void verify_extent(const VerifyScope& scope, const Program& program, const Operand& o) {
  const auto index = static_cast<std::size_t>(o.at.index);
  if (o.at.space == Space::binding) {
    const Operand& formal = index < program.inputs.size() ? program.inputs[index] : program.outputs[index - program.inputs.size()];
    return verify_at_corners(scope, o, [&](const auto& values) { return formal_bytes(formal, values); });
  }
  if (o.at.space == Space::grown) {
    const auto bytes = static_cast<std::size_t>(scope.top.grown[index]);
    return verify_at_corners(scope, o, [&](const auto& values) { return std::optional(values[bytes]); });
  }
  const std::int64_t capacity = o.at.space == Space::weights ? scope.plan.constants[index].bytes : program.arena_bytes;
  const ByteRange range = byte_range(o, scope.dims, scope.box);
  must(o.at.offset <= capacity, "an operand at ", place(o), " starts after the ", capacity, " bytes there");
  must(range.empty() || (range.first >= 0 && range.end <= capacity), "an operand at ", place(o), " reaches from byte ", range.first, " to ",
       range.end, " of ", capacity);
}

void verify_attributes(const ir::OpDef& def, const ir::Attributes& attributes) {
  for (const auto& [key, standard] : def.attributes) must(attributes.has(key), "attribute '", key, "' is missing");
  ir::check_attributes(def, attributes);
}

// A size that depends on data is a new symbol each time it is inferred: there the bound must hold, elsewhere equality.
// Not so for a step that defines no size: the builder knew it from contents (a Slice that ends at a Shape). Kernels fill what their
// results hold, whatever their operands say, and reference kernels refuse to fill more than that (ops::set_output_shape).
void verify_result(const VerifyScope& scope, const ir::Graph& graph, const ir::TensorType& inferred, const Operand& o,
                   bool sized_by_result) {
  must(inferred.dtype == o.dtype, "a result is ", name(o.dtype), ", the operator gives ", name(inferred.dtype));
  must(inferred.dims.size() == o.dims.size(), "a result has ", o.dims.size(), " dims, the operator gives ", inferred.dims.size());
  ir::SymbolBounds box = scope.box;
  for (const ir::Symbol& s : graph.symbols) box.try_emplace(s.name, ir::Interval{s.lower.bounds(box).lower, s.upper.bounds(box).upper});
  for (std::size_t d = 0; d < o.dims.size(); ++d) {
    const ir::Dim stored = dim_at(scope, o.dims[d]), requested = inferred.dims[d];
    if (stored == requested) continue;
    const std::vector<std::string> symbols = requested.symbols();
    const bool depends_on_data = std::any_of(symbols.begin(), symbols.end(), [&](const std::string& s) { return !scope.box.count(s); });
    must(depends_on_data && (sized_by_result || requested.bounds(box).upper <= stored.bounds(box).upper), "dim ", d, " of a result is ",
         stored.text(), ", the operator gives ", requested.text());
  }
}

// What an object may hold is what the operator gives: its dims are compared where they are the step's to know.
void verify_object_result(const VerifyScope& scope, const ir::ValueType& inferred, const Operand& o) {
  const ir::ValueType& stored = scope.top.objects[static_cast<std::size_t>(o.at.index)];
  must(stored.without_dims() == inferred.without_dims() && (!stored.is_tensor() || stored.ranked == inferred.ranked), "object ",
       o.at.index, " is ", ir::text(stored), ", the operator gives ", ir::text(inferred));
  must(!stored.is_tensor() || stored.tensor.dims.size() == inferred.tensor.dims.size(), "object ", o.at.index, " is ", ir::text(stored),
       ", the operator gives ", ir::text(inferred));
}

bool uses_format(const Step& step, const backends::Formats& formats) {
  const auto same = [](const std::vector<Operand>& operands, const std::vector<backends::Layout>& layouts) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i].at.space != Space::none && !operands[i].packed && operands[i].dims.size() >= 3 &&
          operands[i].layout != (i < layouts.size() ? layouts[i] : backends::kPlain))
        return false;
    return true;
  };
  return same(step.in, formats.in) && same(step.out, formats.out);
}

void verify_packed(const VerifyScope& scope, const Step& step, const backends::Tactic& tactic, const backends::Problem& problem) {
  for (std::size_t i = 0; i < step.in.size(); ++i) {
    const Operand& o = step.in[i];
    if (o.at.space == Space::none) continue;
    const std::int64_t requested = o.constant && tactic.packed_bytes ? tactic.packed_bytes(problem, step.config, static_cast<int>(i)) : -1;
    must(o.packed == (requested >= 0), "operand ", i,
         o.packed ? " is packed, the tactic reads it as it is" : " is not packed as the tactic expects");
    if (!o.packed) continue;
    const std::int64_t stored = scope.plan.constants[static_cast<std::size_t>(o.at.index)].bytes;
    must(o.at.offset == 0 && requested <= stored, "packed operand ", i, " has ", stored, " bytes, the tactic reads ", requested);
  }
}

}  // namespace

// Without memory: an entry of a table, of top programs alone, for the programs of branches and loops are made of kernels.
void verify_object(const VerifyScope& scope, const Program& program, const Operand& o, bool written) {
  must(o.at.offset == 0 && o.dense && !o.packed && o.layout == backends::kPlain && o.dtype == DType::string, "an operand at ", place(o),
       " is described as if it lay in memory");
  const bool literal = o.at.space == Space::literal;
  const std::size_t count = literal ? scope.plan.literals.size() : scope.top.objects.size();
  must(&program == &scope.top, "an operand at ", place(o), " in a branch or loop, whose programs have none");
  must(o.at.index >= 0 && static_cast<std::size_t>(o.at.index) < count, "an operand refers to ", place(o), ", there are ", count);
  const auto index = static_cast<std::size_t>(o.at.index);
  must(o.constant == literal && !(literal && written), "an operand at ", place(o), literal ? " is not constant" : " is constant");
  if (literal) {
    must(dims_at(scope, o.dims) == ir::to_dims(scope.plan.literals[index].shape()), "literal ", index, " has the shape ",
         tenfold::text(scope.plan.literals[index].shape()), ", a step reads another");
    return;
  }
  const ir::ValueType& type = scope.top.objects[index];
  must(!lies_in_memory(type), "object ", index, " is ", ir::text(type), ", which lies in memory");
  must(!written || index >= program.inputs.size(), "a result would be written to ", place(o), ", which is an input");
  must(type.is_tensor() && type.ranked ? dims_at(scope, o.dims) == type.tensor.dims : o.dims.empty(), "object ", index, " is ",
       ir::text(type), ", a step has other dims for it");
}

void verify_operand(const VerifyScope& scope, const Program& program, const Operand& o, bool written) {
  must(o.dims.size() == o.strides.size() && o.dims.size() <= kMaxRank, "an operand has ", o.dims.size(), " dims and ", o.strides.size(),
       " strides");
  for (const auto* list : {&o.dims, &o.strides})
    for (DimIndex d : *list)
      must(d >= 0 && static_cast<std::size_t>(d) < scope.dims.size(), "an operand refers to dim ", d, " of ", scope.dims.size());
  must(o.layout.block == 0, "an operand has blocks of ", int{o.layout.block});
  if (o.at.space == Space::object || o.at.space == Space::literal) return verify_object(scope, program, o, written);
  const int width = bits(o.dtype);
  must(width > 0, "strings cannot lie in a plan's memory");
  if (o.dense && o.at.space != Space::none && !o.packed)
    must(dims_at(scope, o.strides) == backends::strides(o.layout, dims_at(scope, o.dims)),
         "an operand is called dense, its strides say otherwise");
  const auto limit = [&](std::size_t count) {
    must(o.at.index >= 0 && static_cast<std::size_t>(o.at.index) < count, "an operand refers to ", place(o), ", there are ", count);
  };
  const std::size_t inputs = program.inputs.size();
  switch (o.at.space) {
    case Space::none: must(!written, "a result has no place"); return;
    case Space::weights: limit(scope.plan.constants.size()); break;
    case Space::arena: break;
    case Space::binding: limit(inputs + program.outputs.size()); break;
    case Space::grown: limit(scope.top.grown.size()); break;
    case Space::object:
    case Space::literal:
    case Space::count_: break;
  }
  must(!written || o.at.space == Space::arena || o.at.space == Space::grown ||
           (o.at.space == Space::binding && static_cast<std::size_t>(o.at.index) >= inputs),
       "a result would be written to ", place(o));
  must(!o.constant || o.at.space == Space::weights, "a constant operand lies in ", place(o));
  must(!o.packed || (o.constant && !written), "an operand that is not constant is packed");
  must(o.at.offset >= 0 && o.at.offset % std::max(width / 8, 1) == 0, "an operand's offset ", o.at.offset, " does not suit ",
       name(o.dtype));
  if (!o.packed) verify_extent(scope, program, o);
}

// Not left to inference alone, which may not come to its operands: graphs in attributes and contents that it does not know go before.
void verify_present(const VerifyScope& scope, const Step& step) {
  const ir::OpDef& def = scope.registry.get(step.op);
  const auto all = static_cast<int>(step.in.size()), own = step.has_body && !def.traits.region ? step.anchor_inputs : all;
  for (int i = 0; i < all; ++i)
    must(step.in[static_cast<std::size_t>(i)].at.space != Space::none || (i < own && !ir::is_required(def, i)), "operand ", i, " of ",
         step.op, " is missing");
}

void verify_meaning(const VerifyScope& scope, const Step& step) {
  const ir::OpDef& def = scope.registry.get(step.op);
  verify_attributes(def, step.attributes);
  must(step.has_body || !def.traits.region, "a region has no body");
  ir::Graph graph(scope.registry);
  for (const auto& [symbol, range] : scope.box) graph.symbols.push_back({symbol, range.lower, range.upper, ir::Origin::input_dim});
  if (step.has_body) {
    const std::size_t feeds = def.traits.region ? step.in.size() : step.in.size() - static_cast<std::size_t>(step.anchor_inputs) + 1;
    must(step.body.inputs.size() == feeds && !step.body.outputs.empty(), "its body has ", step.body.inputs.size(), " inputs, ", feeds,
         " are given");
  }
  std::vector<ir::Dims> operands;
  for (const Operand& o : step.in) operands.push_back(dims_at(scope, o.dims));
  const ir::Node* added = nullptr;
  try {
    added = add_step(scope.plan, scope.top, step, operands, graph);
  } catch (const Error& e) {
    // The builder knew contents that the plan holds only in its dims; the tactic, which sees these, has the word.
    if (e.kind() == ErrorKind::unsupported && step.kind == StepKind::kernel) return;
    throw;
  }
  for (std::size_t i = 0; i < step.out.size(); ++i) {
    const ir::ValueType& type = added->outputs[i]->type;
    if (step.out[i].at.space == Space::object) {
      verify_object_result(scope, type, step.out[i]);
      continue;
    }
    must(lies_in_memory(type), "a result is ", ir::text(type), ", the step gives it memory");
    verify_result(scope, graph, type.tensor, step.out[i],
                  (step.kind == StepKind::kernel || step.kind == StepKind::host) && step.defines.empty());
  }
}

void verify_tactic(const VerifyScope& scope, const Step& step) {
  const backends::Tactic* tactic = scope.tactics.find(step.tactic);
  must(tactic != nullptr, "this version has no tactic '", step.tactic, "': rebuild the plan");
  must(tactic->version == step.tactic_version, "tactic '", step.tactic, "' has version ", tactic->version,
       " here, the plan was built for version ", step.tactic_version, ": rebuild the plan");
  const std::vector<const backends::Tactic*> fitting = scope.tactics.of(scope.registry.get(step.op));
  must(std::find(fitting.begin(), fitting.end(), tactic) != fitting.end(), "tactic '", step.tactic, "' computes ", tactic->ops.at(0).op);
  const backends::Problem problem = step_problem(step, scope.dims, scope.box, scope.tactics.device(), scope.registry);
  const backends::Verdict supported = tactic->supports(problem);
  must(supported.yes, "tactic '", step.tactic, "' refuses: ", supported.reason);
  must(!tactic->rounds_f32 || problem.numerics.allows(ir::Rounding::tf32), "tactic '", step.tactic,
       "' rounds float32, which the step does not allow");
  if (tactic->valid) {
    const backends::Verdict valid = tactic->valid(problem, step.config);
    must(valid.yes, "tactic '", step.tactic, "' refuses its configuration: ", valid.reason);
  } else {
    must(step.config.size() == tactic->configs(problem).at(0).size(), "the configuration of tactic '", step.tactic, "' has ",
         step.config.size(), " numbers");
  }
  const std::vector<backends::Formats> formats = tactic->formats ? tactic->formats(problem) : std::vector<backends::Formats>(1);
  must(std::any_of(formats.begin(), formats.end(), [&](const auto& f) { return uses_format(step, f); }), "tactic '", step.tactic,
       "' does not run these layouts");
  if (tactic->workspace) {
    const ir::Dim bytes = tactic->workspace(problem, step.config);
    const std::int64_t requested = bytes.bounds(scope.box).upper;
    if (step.workspace_dynamic >= 0)
      must(dim_at(scope, scope.top.grown[static_cast<std::size_t>(step.workspace_dynamic)]) == bytes, "tactic '", step.tactic, "' needs ",
           bytes.text(), " bytes of workspace, its growing buffer has another size");
    else
      must(requested <= step.workspace_bytes, "tactic '", step.tactic, "' needs ", requested, " bytes of workspace, the step has ",
           step.workspace_bytes);
  }
  verify_packed(scope, step, *tactic, problem);
}

}  // namespace tenfold::plan
