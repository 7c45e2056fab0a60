// Casts and transposes at a graph's border.
#include "builder/model/formats.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "ops/interpret.h"

namespace tenfold::builder {
namespace {

std::size_t dims_moved(BindingOrder order) { return order == BindingOrder::hwc ? 3 : order == BindingOrder::dhwc ? 4 : 0; }

// Transpose's `perm` from the model's order to the caller's: the channels go behind the places.
ir::Ints to_caller(std::size_t rank, BindingOrder order) {
  ir::Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (const auto moved = static_cast<std::ptrdiff_t>(dims_moved(order)); moved > 0)
    std::rotate(perm.end() - moved, perm.end() - moved + 1, perm.end());
  return perm;
}
ir::Ints to_model(std::size_t rank, BindingOrder order) {
  const ir::Ints there = to_caller(rank, order);
  ir::Ints back(rank);
  for (std::size_t d = 0; d < rank; ++d) back[static_cast<std::size_t>(there[d])] = static_cast<std::int64_t>(d);
  return back;
}

void check_format(const ir::Value& v, const char* side, const BindingFormat& format) {
  require(v.type.kind == ir::ValueType::Kind::tensor && v.dtype() != DType::string, ErrorKind::invalid_argument, side, " '", v.name,
          "' is ", ir::text(v.type), ": only tensors of numbers have another type or order");
  if (format.dtype)
    require(*format.dtype < DType::count_ && *format.dtype != DType::string, ErrorKind::invalid_argument, side, " '", v.name, "' is ",
            ir::text(v.type), ", which cannot be taken or given as strings");
  require(format.order <= BindingOrder::dhwc, ErrorKind::invalid_argument, side, " '", v.name, "': there is no such order of dims");
  const std::size_t moved = dims_moved(format.order);
  require(moved == 0 || (v.type.ranked && v.dims().size() >= moved), ErrorKind::invalid_argument, side, " '", v.name, "' is ",
          ir::text(v.type),
          moved == 3 ? ": hwc is an order of [...,C,H,W], of 3 dims at least" : ": dhwc is an order of [...,C,D,H,W], of 4 dims at least");
}

using Formats = std::map<std::string, BindingFormat>;

void check_names(const Formats& formats, const std::vector<ir::Value*>& all, const char* side) {
  for (const auto& [name, format] : formats) {
    const auto found = std::find_if(all.begin(), all.end(), [&, &name = name](const ir::Value* v) { return v->name == name; });
    if (found != all.end()) {
      check_format(**found, side, format);
      continue;
    }
    std::string names;
    for (const ir::Value* v : all) names += (names.empty() ? "'" : ", '") + v->name + "'";
    fail(ErrorKind::invalid_argument, cat("a format is given for the ", side, " '", name, "'; the model has ", names));
  }
}

ir::Value* cast(ir::Graph& graph, ir::Value* v, DType to, ir::Node* before) {
  return v->dtype() == to ? v : graph.make("Cast", {v}, {{"to", std::string(name(to))}}, before);
}
ir::Value* ordered(ir::Graph& graph, ir::Value* v, ir::Ints perm, ir::Node* before) {
  return std::is_sorted(perm.begin(), perm.end()) ? v : graph.make("Transpose", {v}, {{"perm", std::move(perm)}}, before);
}

// The value stays what callers bind; what read it reads the model's form of it. Elements move in the caller's type, which as a rule is the
// narrower one.
void change_input(ir::Graph& graph, ir::Value* v, const BindingFormat& format) {
  const std::vector<ir::Node*> users = v->users;
  const DType own = v->dtype();
  const std::size_t rank = v->dims().size();
  const ir::Dims dims = v->dims();
  const ir::Ints there = to_caller(rank, format.order);
  for (std::size_t d = 0; d < rank; ++d) v->type.tensor.dims[d] = dims[static_cast<std::size_t>(there[d])];
  v->type.tensor.dtype = format.dtype.value_or(own);
  v->contents.reset();
  ir::Node* const first = graph.nodes().empty() ? nullptr : graph.nodes().front().get();
  ir::Value* made = cast(graph, ordered(graph, v, to_model(rank, format.order), first), own, first);
  if (made == v) return;
  for (ir::Node* user : users)
    for (std::size_t i = 0; i < user->inputs.size(); ++i)
      if (user->inputs[i] == v) graph.set_input(*user, static_cast<int>(i), made);
  for (ir::Value*& output : graph.outputs) {
    if (output != v) continue;
    output = graph.make("Identity", {made});
    output->name = v->name;
  }
}

void change_output(ir::Graph& graph, std::size_t index, const BindingFormat& format) {
  ir::Value* const v = graph.outputs[index];
  const DType requested = format.dtype.value_or(v->dtype());
  ir::Value* const made = ordered(graph, cast(graph, v, requested, nullptr), to_caller(v->dims().size(), format.order), nullptr);
  if (made == v) return;
  const std::string name = v->name;
  if (v->producer) v->name = graph.unique_name(name);   // an input keeps its name
  made->name = name;
  graph.outputs[index] = made;
}

}  // namespace

Shape in_models_order(Shape shape, BindingOrder order) {
  const std::size_t moved = dims_moved(order);
  if (moved > 0 && shape.size() >= moved) std::rotate(shape.end() - static_cast<std::ptrdiff_t>(moved), shape.end() - 1, shape.end());
  return shape;
}

void apply_formats(ir::Graph& graph, const BuildConfig& config) {
  check_names(config.input_formats, graph.inputs, "input");
  check_names(config.output_formats, graph.outputs, "output");
  for (std::size_t o = 0; o < graph.outputs.size(); ++o)
    if (const auto at = config.output_formats.find(graph.outputs[o]->name); at != config.output_formats.end())
      change_output(graph, o, at->second);
  for (ir::Value* v : graph.inputs)
    if (const auto at = config.input_formats.find(v->name); at != config.input_formats.end()) change_input(graph, v, at->second);
}

void check_defaults(const ir::Graph& graph, const BuildConfig& config) {
  for (const auto& [name, value] : config.input_defaults) {
    const auto found =
        std::find_if(graph.inputs.begin(), graph.inputs.end(), [&, &name = name](const ir::Value* v) { return v->name == name; });
    require(found != graph.inputs.end(), ErrorKind::invalid_argument, "a default is given for '", name, "', which is no input");
    const ir::ValueType& type = (*found)->type;
    require(type.kind == ir::ValueType::Kind::tensor && type.ranked && ir::is_constant(type.tensor.dims), ErrorKind::invalid_argument,
            "input '", name, "' is ", ir::text(type), ": a default needs a tensor of a fixed shape");
    require(value.defined() && value.dtype() == type.tensor.dtype && value.shape() == ir::constants(type.tensor.dims),
            ErrorKind::invalid_argument, "input '", name, "' is ", ir::text(type), ", its default is ",
            value.defined() ? cat(tenfold::name(value.dtype()), "[", text(value.shape()), "]") : "not defined");
  }
}

Tensor as_caller_has(const Tensor& value, const std::string& input, const BindingFormat& format) {
  ir::Graph graph(ir::Registry::builtin());
  graph.outputs.push_back(graph.add_input(input, {.tensor = {value.dtype(), ir::to_dims(value.shape())}}));
  check_format(*graph.outputs[0], "input", format);
  change_output(graph, 0, format);
  return std::get<Tensor>(ops::run_graph(graph, {value})[0]);
}

}  // namespace tenfold::builder
