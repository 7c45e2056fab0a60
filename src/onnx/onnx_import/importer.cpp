// A model's frame: versions, functions, inputs, initializers and outputs of the main graph.
#include "onnx_import/importer.h"

#include <algorithm>

#include "base/check.h"
#include "ir/finite.h"
#include "ir/lineage.h"
#include "onnx_import/newest.h"
#include "onnx_import/tensor_proto.h"
#include "onnx_import/value_types.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_import {
namespace {


std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// Exporters and editors leave stale shapes behind, so that a declared one is no more than a hint.
bool disagrees(const std::optional<onnx::TypeProto::Tensor>& declared, const ir::Value& value) {
  if (!declared || !declared->shape || value.type.kind != ir::ValueType::Kind::tensor || !value.type.ranked) return false;
  const ir::Dims& dims = value.dims();
  if (declared->shape->dim.size() != dims.size()) return true;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto& value = declared->shape->dim[d].dim_value;
    if (value && dims[d].is_constant() && dims[d].constant() != *value) return true;
  }
  return false;
}

}  // namespace

Importer::Importer(const onnx::ModelProto& model, const ImportOptions& options, const ir::Registry& registry, ExternalData& files,
                   DeferredCopies& later)
    : model_(model), options_(options), registry_(registry), files_(files), later_(later) {}

ir::Graph Importer::run() {
  require(model_.ir_version >= 1, ErrorKind::invalid_model, "is not an ONNX model: it has no IR version");
  require(bool(model_.graph), ErrorKind::invalid_model, "the model has no graph");
  if (model_.ir_version > kNewestIr)
    options_.log(Severity::warning, "the model's IR version ", model_.ir_version, " is newer than ", kNewestIr, ", the newest known");
  opsets_ = read_opsets(model_.opset_import, true);
  read_functions();
  count_nodes();
  ir::Graph graph(registry_);
  graph.name = model_.graph->name;
  Scope scope{.graph = &graph, .opsets = &opsets_};
  add_inputs(scope);
  check_given();
  add_initializers(*model_.graph, scope);
  try {
    nodes(model_.graph->node, scope);
    add_outputs(scope);
  } catch (const Error& error) {   // names defined twice, a cycle: no node was looked at
    note(error);
  }
  report_problems();
  drop_sequences(graph);
  finalize_names(graph);
  graph.model_names = table_;
  graph.clear_journal();
  ir::start_names(graph, "import");
  ir::verify(graph);
  return graph;
}

Opsets Importer::read_opsets(const std::vector<onnx::OperatorSetIdProto>& imports, bool main) {
  Opsets opsets;
  for (const auto& import : imports) {
    const std::string domain = domain_of(import.domain);
    require(import.version >= 1 && import.version < 1'000'000, ErrorKind::invalid_model, "imports version ", import.version,
            " of domain '", import.domain, "', expected 1 or more");
    const auto [entry, fresh] = opsets.try_emplace(domain, static_cast<int>(import.version));
    require(fresh || entry->second == import.version, ErrorKind::invalid_model, "imports two versions of domain '", import.domain, "'");
    if (main && domain.empty() && entry->second > kNewestOpset)
      options_.log(Severity::warning, "the model's opset ", entry->second, " is newer than ", kNewestOpset, ", the newest known");
  }
  if (main && model_.ir_version < 3) opsets.try_emplace("", 1);   // before operator sets existed
  require(!opsets.empty() || !main, ErrorKind::invalid_model, "the model imports no operator set");
  return opsets;
}

void Importer::read_functions() {
  for (const auto& function : model_.functions) {
    const FunctionKey key{domain_of(function.domain), function.name, function.overload};
    require(functions_.try_emplace(key, &function).second, ErrorKind::invalid_model, "the function '", function.name, "' of domain '",
            function.domain, "' is defined twice");
  }
}

// Those of options_.overridable, each with its initializer.
std::map<std::string, const onnx::TensorProto*> Importer::overridable_inputs() const {
  std::map<std::string, const onnx::TensorProto*> possible;
  std::unordered_set<std::string> inputs;
  for (const auto& input : model_.graph->input) inputs.insert(input.name);
  for (const auto& tensor : model_.graph->initializer)
    if (inputs.count(tensor.name)) possible.emplace(tensor.name, &tensor);
  const std::vector<std::string>& overridable = options_.overridable;
  if (std::count(overridable.begin(), overridable.end(), "*") > 0) return possible;
  std::map<std::string, const onnx::TensorProto*> chosen;
  for (const std::string& name : overridable) {
    const auto found = possible.find(name);
    if (found == possible.end()) {
      std::string names;
      for (const auto& [other, tensor] : possible) names += (names.empty() ? "it has '" : ", '") + other + "'";
      fail(ErrorKind::invalid_argument,
           cat("'", name, "' is to be overridable, but the model has no input of that name with an initializer; ",
               names.empty() ? "it has none at all" : names));
    }
    chosen.insert(*found);
  }
  return chosen;
}

// The declared shape may be open; an initializer has one.
ir::ValueType Importer::with_default(const onnx::ValueInfoProto& input, const onnx::TensorProto& initializer) {
  Tensor value = initial(initializer, nullptr);
  const std::int64_t declared = input.type.tensor_type ? input.type.tensor_type->elem_type : 0;
  require(declared == 0 || ops::dtype_from_onnx(declared) == value.dtype(), ErrorKind::invalid_model, "input '", input.name,
          "' is declared as ", declared == 0 ? "" : tenfold::name(ops::dtype_from_onnx(declared)), ", its initializer is ",
          tenfold::name(value.dtype()));
  ir::ValueType type{.tensor = {value.dtype(), ir::to_dims(value.shape())}};
  options_.defaults->emplace(input.name, std::move(value));
  return type;
}

void Importer::add_inputs(Scope& scope) {
  const auto& proto = *model_.graph;
  // Before IR version 4 every initializer is an input too; later it is a default value. Both are taken as constants unless they are asked
  // for.
  check(options_.overridable.empty() || options_.defaults, "overridable inputs without a place for their defaults");
  const std::map<std::string, const onnx::TensorProto*> overridable = overridable_inputs();
  std::unordered_set<std::string> constants;
  for (const auto& tensor : proto.initializer) constants.insert(tensor.name);
  for (const auto& tensor : proto.sparse_initializer) constants.insert(tensor.name());
  ValueTypes types(*scope.graph, options_);
  types.fix_names(proto);
  for (const auto& input : proto.input) {
    require(!input.name.empty(), ErrorKind::invalid_model, "an input has no name");
    const auto optional = overridable.find(input.name);
    if (optional == overridable.end() && constants.count(input.name)) continue;
    try {
      require(!scope.names.count(input.name), ErrorKind::invalid_model, "two inputs are named '", input.name, "'");
      const ir::ValueType type = optional == overridable.end() ? types.input(input) : with_default(input, *optional->second);
      define(scope, input.name, scope.graph->add_input(input.name, type));
      inputs_.push_back(scope.graph->inputs.back());
    } catch (const Error& error) {
      note(error);
      scope.broken.insert(input.name);
    }
  }
}

namespace {

// What the caller gives for an initializer.
Tensor in_place_of(const onnx::TensorProto& proto, const Tensor& given) {
  const DType type = ops::dtype_from_onnx(proto.data_type);
  const Shape shape = tensor_shape(proto.dims);
  if (given.dtype() == type && given.shape() == shape) return given;
  const std::int64_t bytes = (element_count(shape) * bits(type) + 7) / 8;
  require(type != DType::string && given.dtype() == DType::u8 && given.rank() == 1 && given.size() == bytes, ErrorKind::invalid_argument,
          "the initializer '", proto.name, "' is ", tenfold::name(type), "[", text(shape), "], ", tenfold::name(given.dtype()), "[",
          text(given.shape()), "] is given; that type and shape, or u8[", bytes, "], were expected");
  const auto owner = std::make_shared<const Tensor>(given);
  return Tensor(type, shape, owner, given.raw());
}

}  // namespace

Tensor Importer::initial(const onnx::TensorProto& proto, DeferredCopies* later) {
  const auto given = options_.initializers.find(proto.name);
  return given == options_.initializers.end() ? to_tensor(proto, &files_, later) : in_place_of(proto, given->second);
}

void Importer::check_given() const {
  if (options_.initializers.empty()) return;
  std::set<std::string_view> names;
  for (const auto& tensor : model_.graph->initializer) names.insert(tensor.name);
  for (const auto& [name, value] : options_.initializers) {
    require(names.count(name) > 0, ErrorKind::invalid_argument, "a value is given for the initializer '", name,
            "', which the model does not have");
  }
}

void Importer::add_initializers(const onnx::GraphProto& proto, Scope& scope) {
  charge(proto.initializer.size() + proto.sparse_initializer.size());
  std::vector<std::string> names;   // of `weights`, of which NaN and infinity are told
  std::vector<Tensor> weights;
  const auto add = [&](const std::string& name, const auto& read) {
    Tensor tensor;
    try {
      require(!name.empty(), ErrorKind::invalid_model, "an initializer has no name");
      tensor = read();
      define(scope, name, scope.graph->add_constant(tensor, name, true));
    } catch (const Error& error) {
      note(error);
      scope.broken.insert(name);
      return;
    }
    if (options_.check_finite) names.push_back(name), weights.push_back(tensor);
  };
  const bool main = &proto == &*model_.graph;
  for (const auto& tensor : proto.initializer)
    if (!main || !options_.defaults || !options_.defaults->count(tensor.name))
      add(tensor.name, [&] { return main ? initial(tensor, &later_) : to_tensor(tensor, &files_, &later_); });
  for (const auto& tensor : proto.sparse_initializer) add(tensor.name(), [&] { return to_tensor(tensor, &files_); });
  later_.copy();
  const std::vector<bool> finite = ir::all_finite(weights);
  std::string masks;
  for (std::size_t i = 0; i < finite.size(); ++i) {
    if (finite[i]) continue;
    if (ir::is_mask(weights[i]))
      masks += cat(masks.empty() ? "'" : ", '", names[i], "'");
    else
      options_.log(Severity::warning, "the weight '", names[i], "' contains NaN or infinity");
  }
  if (!masks.empty()) options_.log(Severity::info, "weights with -infinity, as masks in front of a softmax have it: ", masks);
}

void Importer::add_outputs(Scope& scope) {
  const auto& proto = *model_.graph;
  require(!proto.output.empty(), ErrorKind::invalid_model, "the graph has no outputs");
  std::unordered_set<std::string> names;
  for (const auto& output : proto.output) {
    try {
      require(names.insert(output.name).second, ErrorKind::invalid_model, "two outputs are named '", output.name, "'");
      if (!scope.broken.count(output.name)) add_output(scope, output);   // else it was told of at its node
    } catch (const Error& error) {
      note(error);
    }
  }
}

void Importer::add_output(Scope& scope, const onnx::ValueInfoProto& output) {
  ir::Graph& graph = *scope.graph;
  const std::string& name = output.name;
  const auto found = scope.names.find(name);
  require(found != scope.names.end() && found->second, ErrorKind::invalid_model, "the output '", name, "' is not defined by any node");
  ir::Value* value = found->second;
  // Every output is a value of its own that carries the model's name; inputs and constants are copied. An optional that is declared as
  // what it holds has to hold it.
  const bool unwraps = (output.type.tensor_type || output.type.sequence_type) && value->type.kind == ir::ValueType::Kind::optional;
  if (unwraps || !value->producer || value->name != name || graph.is_output(value)) {
    if (unwraps && value->name == name) value->name = graph.unique_name(name);
    ir::Value* copy = graph.make(unwraps ? "OptionalGetElement" : "Identity", {value});
    if (value->is_constant() && value->name == name) value->name = graph.unique_name(name);
    copy->name = name, copy->names = value->names;
    named_.insert(value = copy);
  }
  const std::int64_t declared = output.type.tensor_type ? output.type.tensor_type->elem_type : 0;
  require(declared == 0 || ops::dtype_from_onnx(declared) == value->dtype(), ErrorKind::invalid_model, "the output '", name,
          "' is declared as ", declared == 0 ? "" : tenfold::name(ops::dtype_from_onnx(declared)), ", but computed as ",
          tenfold::name(value->dtype()));
  if (disagrees(output.type.tensor_type, *value))
    options_.log(Severity::warning, "the output '", name, "' is declared with another shape than the [", ir::text(value->dims()),
                 "] that is computed");
  graph.outputs.push_back(value);
}

void Importer::define(Scope& scope, const std::string& name, ir::Value* value) {
  require(scope.names.try_emplace(name, value).second, ErrorKind::invalid_model, "'", name, "' is defined twice");
  const std::int32_t tensor = tensor_entry(scope, name);
  if (value) ir::join(value->names, {tensor});
  if (!value || named_.count(value)) return;
  value->name = scope.inlined ? within(scope, name) : name;
  scope.graph->unique_name(value->name);   // so that no later value takes it
  // What a function or a branch returns is named again outside.
  if (!scope.inlined) named_.insert(value);
}

// Such names are kept in several places each, so that together they must not get long.
std::string Importer::within(const Scope& scope, const std::string& name) {
  std::string full = scope.prefix + name;
  require(full.size() <= kLongestName, ErrorKind::invalid_model, "a name has ", full.size(),
          " characters with those of the functions and bodies around it, at most ", kLongestName, " are supported: '", full.substr(0, 60),
          "...'");
  name_bytes_ += static_cast<std::int64_t>(full.size());
  require(name_bytes_ <= options_.max_name_bytes, ErrorKind::invalid_model,
          "names of nodes and values, with those of the functions and bodies around them, have more than ", options_.max_name_bytes,
          " characters in all: use shorter names");
  return full;
}

void Importer::count_nodes() {
  std::int64_t written = written_nodes(model_.graph->node);
  for (const auto& function : model_.functions) written += written_nodes(function.node);
  max_nodes_ = std::min(options_.max_nodes, options_.max_unfolded + options_.max_unfolded_each * written);
  Unfolding unfolding(functions_);
  std::int64_t all = 0;
  for (const auto& node : model_.graph->node) {
    const std::int64_t own = unfolding.of(node);
    all += own;
    require(all <= max_nodes_, ErrorKind::invalid_model, shown(node), " makes it ", all >= kMaxCounted ? "at least " : "", all,
            " nodes, ", own, " of its own, with functions inlined and bodies read: a model of ", written,
            " nodes in the file may have no more than ", max_nodes_);
  }
}

void Importer::charge_shapes(const ir::Value& value) {
  const auto add = [this](const ir::Dims& dims) {
    for (const ir::Dim& d : dims)
      if (!d.is_constant()) shape_bytes_ += static_cast<std::int64_t>(d.text_size());
  };
  add(value.dims());
  if (value.contents) add(*value.contents);
}

void Importer::charge(std::size_t operands) {
  operand_count_ += static_cast<std::int64_t>(operands);
  require(operand_count_ <= options_.max_operands, ErrorKind::invalid_model, "the model's nodes and calls of functions have more than ",
          options_.max_operands, " operands, results and attributes");
}

void Importer::finalize_names(ir::Graph& graph) const {
  std::unordered_set<std::string> taken;
  for (const auto& value : graph.values())
    if (named_.count(value.get())) taken.insert(value->name);
  for (const auto& value : graph.values())
    if (!named_.count(value.get()) && !taken.insert(value->name).second) value->name = graph.unique_name(value->name);
}

}  // namespace tenfold::onnx_import
