// Writing and reading the portable section.
#include "builder/rebuild/portable.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "builder/refit/refit_recorder.h"
#include "ir/recipe.h"
#include "ir/scan.h"
#include "ir/text.h"
#include "plan/step_problem.h"

namespace tenfold::builder {
namespace {

constexpr std::int64_t kLongestLiteral = 256;  // elements; longer ones are stored with the weights
constexpr const char* kHead = "portable 2\n";
constexpr const char* kNamelessHead = "portable 1\n";   // of the same length; without the model's names
constexpr const char* kGraph = "\ngraph\n";

// A step that reads a packed constant, and the dims table its operands refer to.
struct Reader {
  const plan::Program* top = nullptr;
  const plan::Step* step = nullptr;
  int operand = 0;
};

using Readers = std::multimap<std::int32_t, Reader>;  // by constant

void collect(const plan::Program& top, const plan::Program& program, Readers& readers) {
  for (const plan::Step& step : program.steps) {
    for (std::size_t i = 0; i < step.in.size(); ++i)
      if (step.in[i].packed) readers.emplace(step.in[i].at.index, Reader{&top, &step, static_cast<int>(i)});
    for (const plan::Program& nested : step.programs) collect(top, nested, readers);
  }
}

Readers readers_of(const plan::Plan& plan) {
  Readers readers;
  for (const plan::Program& program : plan.programs) collect(program, program, readers);
  return readers;
}

// Weights of different shapes may have the same packed bytes: the one that reads it as `type`. Null if none does.
const Reader* reader_of(const Readers& readers, std::int32_t index, const ir::TensorType& type) {
  for (auto [it, end] = readers.equal_range(index); it != end; ++it) {
    const plan::Operand& o = it->second.step->in[static_cast<std::size_t>(it->second.operand)];
    ir::Dims dims;
    for (plan::DimIndex d : o.dims) dims.push_back(it->second.top->dims[static_cast<std::size_t>(d)]);
    if (o.dtype == type.dtype && dims == type.dims) return &it->second;
  }
  return nullptr;
}

// A constant of the plan as it is without a step's packing.
Tensor unpack_constant(const std::byte* packed, const Reader& reader, const backends::Tactic& tactic, const backends::DeviceInfo& device,
                const ir::Registry& registry) {
  const ir::SymbolBounds box = plan::program_box(*reader.top);
  const backends::Problem problem = plan::step_problem(*reader.step, reader.top->dims, box, device, registry);
  const plan::Operand& operand = reader.step->in[static_cast<std::size_t>(reader.operand)];
  return tactic.unpack(problem, reader.step->config, reader.operand, packed + operand.at.offset);
}

ir::TensorType type_of(const Tensor& t) { return {t.dtype(), ir::to_dims(t.shape())}; }
std::string type_text(const Tensor& t) { return ir::text(type_of(t)); }

struct Restorer {
  const plan::Plan& plan;
  const backends::TacticSet& tactics;
  const ir::Registry& registry;
  Readers readers = readers_of(plan);

  const plan::Constant& at(std::int64_t index) const {
    require(index >= 0 && index < static_cast<std::int64_t>(plan.constants.size()), ErrorKind::plan_refused,
            "the portable graph names constant ", index, ", the plan has ", plan.constants.size());
    return plan.constants[static_cast<std::size_t>(index)];
  }
  Tensor stored(const ir::TensorType& type, std::int64_t index) const {
    const plan::Constant& c = at(index);
    Shape shape = ir::constants(type.dims);
    require(byte_size(type.dtype, element_count(shape)) == c.bytes, ErrorKind::plan_refused, "the portable graph takes constant ", index,
            " for ", ir::text(type), ", it has ", c.bytes, " bytes");
    return Tensor(type.dtype, std::move(shape), plan.weights_owner, plan.bytes_of(static_cast<std::size_t>(index)));
  }
  Tensor unpacked(const ir::TensorType& type, std::int64_t index) const {
    at(index);
    const Reader* found = reader_of(readers, static_cast<std::int32_t>(index), type);
    require(found != nullptr, ErrorKind::plan_refused, "no step of the plan reads constant ", index, " packed as ", ir::text(type));
    const Reader& reader = *found;
    const backends::Tactic* tactic = tactics.find(reader.step->tactic);
    require(tactic && tactic->unpack, ErrorKind::plan_refused, "the packing of tactic '", reader.step->tactic, "' cannot be undone here");
    const plan::Operand& operand = reader.step->in[static_cast<std::size_t>(reader.operand)];
    Tensor t = unpack_constant(plan.bytes_of(static_cast<std::size_t>(operand.at.index)), reader, *tactic, plan.device, registry);
    require(t.dtype() == type.dtype && ir::to_dims(t.shape()) == type.dims, ErrorKind::plan_refused, "constant ", index, " unpacks to ",
            type_text(t), ", the portable graph expects ", ir::text(type));
    return t;
  }
};

// The packed copy of a constant that is nearest to it.
struct Copy {
  std::int32_t index = -1;   // -1: no packing can be undone
  bool rounded = false;      // or may be after a refit; not where the graph itself says bf16: no permission is asked for that
  std::string tactic = "a tactic";
};

// Sum of absolute differences; 0 for equal bytes, whatever their type.
double distance(const Tensor& a, const Tensor& b) {
  if (std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.bytes())) == 0) return 0;
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) sum += std::abs(a.as_double(i) - b.as_double(i));
  return sum > 0 ? sum : std::numeric_limits<double>::max();   // NaN, too
}

Copy nearest_copy(const ir::Constant& constant, const std::vector<ConstantPool::Place>& places, const Readers& readers,
                  const ConstantPool& pool, const backends::TacticSet& tactics, const ir::Registry& registry) {
  Copy best;
  double min = 0;
  const bool may_change = ir::may_change(constant);
  for (const ConstantPool::Place& place : places) {
    const Reader* reader = reader_of(readers, place.index, type_of(constant.tensor));
    const backends::Tactic* tactic = reader ? tactics.find(reader->step->tactic) : nullptr;
    if (!tactic || !tactic->unpack) {
      if (reader && best.index < 0) best.tactic = reader->step->tactic;
      continue;
    }
    const bool needs_permission = place.rounded && tactic->rounds_f32, compare = places.size() > 1 || (needs_permission && !may_change);
    const double far =
        compare ? distance(unpack_constant(pool.bytes_of(place.index), *reader, *tactic, tactics.device(), registry), constant.tensor) : 0;
    if (best.index >= 0 && !(far < min)) continue;
    best = {place.index, needs_permission && (may_change || far > 0), reader->step->tactic};
    min = far;
  }
  return best;
}

}  // namespace

void PortableGraphs::add(const ir::Graph& graph) {
  graphs_.push_back(ir::print(graph, {.names = true, .model_names = graph.model_names != nullptr, .constants = &constants_}));
}

std::string PortableGraphs::text(const plan::Plan& plan, ConstantPool& pool, const backends::TacticSet& tactics,
                                 const ir::Registry& registry, const Log& log) const {
  const Readers readers = readers_of(plan);
  std::string out = kHead;
  bool rounded = rounded_;
  for (const auto& constant : constants_) {
    const Tensor& t = constant->tensor;
    const std::vector<ConstantPool::Place> places = pool.find(constant);
    if (!places.empty() && places.front().packed) {
      const Copy copy = nearest_copy(*constant, places, readers, pool, tactics, registry);
      if (copy.index < 0) {
        log(Severity::warning, "the plan cannot be re-tuned on another machine: '", copy.tactic, "' packs weights for good");
        return "";
      }
      rounded = rounded || copy.rounded;
      out += cat("packed ", type_text(t), " ", copy.index, "\n");
    } else if (places.empty() && t.size() <= kLongestLiteral && !ir::may_change(*constant)) {
      out += cat("literal ", ir::text(ir::Attribute(t)), "\n");
    } else {
      out += cat("stored ", type_text(t), " ", places.empty() ? pool.add("portable", constant) : places.front().index, "\n");
    }
  }
  if (rounded) out += "rounded\n";
  for (const std::string& graph : graphs_) out += cat("graph\n", graph);
  return out;
}

PortableModel read_portable(const plan::Plan& plan, const backends::TacticSet& tactics, const ir::Registry& registry, bool tf32) {
  require(!plan.portable.empty(), ErrorKind::plan_refused,
          "the plan has no portable graph (built without keep_portable_graph, or with a packing "
          "that cannot be undone): build it again from the model");
  require(plan.portable.starts_with(kHead) || plan.portable.starts_with(kNamelessHead), ErrorKind::plan_refused,
          "the plan's portable graph has a form that this version does not know");
  const Restorer restorer{plan, tactics, registry};
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  std::size_t end = plan.portable.find(kGraph);
  require(end != std::string::npos, ErrorKind::plan_refused, "the plan's portable section has no graph");
  const std::size_t head = std::string_view(kHead).size();  // without constants the graph begins with the head's own end of line
  ir::Scanner in(std::string_view(plan.portable).substr(head, std::max(end, head) - head));
  PortableModel model;
  while (in.peek() != '\0') {
    if (in.take("rounded")) {
      require(tf32, ErrorKind::plan_refused,
              "the plan holds float32 weights rounded, as it multiplies them, and --noTF32 permits no rounding: build it again");
      model.rounded = true;
      continue;
    }
    auto constant = std::make_shared<ir::Constant>();
    if (in.take("literal ")) {
      constant->tensor = ir::parse_literal(in);
    } else {
      const bool packed = in.take("packed ");
      if (!packed && !in.take("stored ")) in.bad("'stored', 'packed' or 'literal' expected");
      const ir::ValueType type = ir::parse_type(in);
      if (type.kind != ir::ValueType::Kind::tensor || !ir::is_constant(type.tensor.dims)) in.bad("a constant needs a constant shape");
      const std::int64_t index = in.integer();
      constant->tensor = packed ? restorer.unpacked(type.tensor, index) : restorer.stored(type.tensor, index);
      if (std::count(plan.refit.results.begin(), plan.refit.results.end(), index))
        constant->recipe = weight_recipe(old_constant_name(index));
    }
    constants.push_back(std::move(constant));
  }
  while (end != std::string::npos) {
    const std::size_t begin = end + std::string_view(kGraph).size();
    end = plan.portable.find(kGraph, begin - 1);
    const auto length = end == std::string::npos ? end : end + 1 - begin;
    model.graphs.push_back(ir::parse_graph(std::string_view(plan.portable).substr(begin, length), registry, {.constants = &constants}));
  }
  require(model.graphs.size() == plan.programs.size(), ErrorKind::plan_refused, "the plan has ", plan.programs.size(), " programs and ",
          model.graphs.size(), " portable graphs");
  return model;
}

}  // namespace tenfold::builder
