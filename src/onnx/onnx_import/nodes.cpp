// One ONNX node after the other: operands looked up by name, the table of ONNX operators asked, results named.
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/find_or_make.h"
#include "ir/shape_advice.h"
#include "onnx_import/importer.h"
#include "onnx_import/refused_names.h"
#include "onnx_import/standard_table.h"
#include "onnx_import/tensor_proto.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::onnx_import {
namespace {

std::string domain_of(const onnx::NodeProto& node) { return node.domain == "ai.onnx" ? "" : node.domain; }

constexpr const char* kContrib = "com.microsoft";

// Trailing empty names mean nothing; empty names between others are operands or results left out.
std::vector<std::string> trimmed(const std::vector<std::string>& names) {
  std::vector<std::string> result(names.begin(), names.end());
  while (!result.empty() && result.back().empty()) result.pop_back();
  return result;
}

// Everything that follows computes with numbers of elements and bytes.
void expect_countable(const ir::Value& value) {
  if (value.type.kind != ir::ValueType::Kind::tensor || !value.type.ranked) return;
  require(value.rank() <= kMaxRank, ErrorKind::unsupported, "its result has ", value.rank(), " dimensions, at most ", kMaxRank,
          " are supported");
  std::int64_t bytes = 16;  // of the widest element
  for (const ir::Dim& d : value.dims())
    if (d.is_constant() && d.constant() > 0)
      require(!__builtin_mul_overflow(bytes, d.constant(), &bytes), ErrorKind::invalid_model, "its result has the shape [",
              ir::text(value.dims()), "], more elements than can be counted");
}

}  // namespace

void Importer::nodes(const std::vector<onnx::NodeProto>& list, Scope& scope) {
  charge(list.size());
  for (int index : topological_order(list, free_)) outer_node(list[static_cast<std::size_t>(index)], scope, index);
}

// Remembers the number of the file's own node while it and what is inside it are imported.
void Importer::outer_node(const onnx::NodeProto& proto, Scope& scope, int index) {
  const bool outermost = outermost_ < 0;
  if (outermost) outermost_ = index;
  node(proto, scope, index);
  if (outermost) outermost_ = -1;
}

void Importer::node(const onnx::NodeProto& proto, Scope& scope, int index) {
  throw_if_cancelled();
  require(++node_count_ <= max_nodes_, ErrorKind::invalid_model, "the model has more than ", max_nodes_,
          " nodes, with functions inlined and bodies read each time that they are; the last is ", shown(proto), " in '", scope.prefix, "'");
  require(shape_bytes_ <= options_.max_shape_bytes, ErrorKind::unsupported, "the shapes in front of ", shown(proto),
          " take more than ", options_.max_shape_bytes, " characters as expressions; fixed shapes of inputs (--shapes) make them numbers");
  charge(proto.input.size() + proto.output.size() + proto.attribute.size());
  const std::string name = within(scope, proto.name.empty() ? cat(proto.op_type, "_", index) : proto.name);
  const std::vector<std::string> outputs = trimmed(proto.output);
  try {
    std::vector<ir::Value*> inputs;
    bool broken = false;
    for (const std::string& input : trimmed(proto.input)) {
      const auto found = scope.names.find(input);
      broken |= scope.broken.count(input) > 0;
      require(input.empty() || found != scope.names.end() || scope.broken.count(input), ErrorKind::invalid_model, "its input '", input,
              "' is not defined by any node, input or initializer");
      inputs.push_back(input.empty() || found == scope.names.end() ? nullptr : found->second);
    }
    for (const auto& attribute : proto.attribute)
      if (attribute.g)
        for (const std::string* free : free_.of(*attribute.g)) charge(1), broken |= scope.broken.count(*free) > 0;
    if (broken) {  // what it reads could not be imported
      scope.broken.insert(outputs.begin(), outputs.end());
      judge_alone(proto, scope);
      return;
    }
    const std::int32_t entry = node_entry(proto, scope, index);
    const std::uint32_t last = scope.graph->last_node();
    const std::vector<ir::Value*> results = convert(proto, scope, name, inputs, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].empty()) continue;
      require(i < results.size() && results[i], ErrorKind::unsupported, "its result ", i, " is not computed");
      expect_countable(*results[i]);
      charge_shapes(*results[i]);
      define(scope, outputs[i], fold_shape_constant(*scope.graph, results[i]));
    }
    set_sources(entry, outputs, scope, last);
  } catch (Error& error) {
    if (!is_of_model(error.kind())) throw;
    ModelProblem problem = problem_of(proto, scope, name, error);
    const auto* disagreement = dynamic_cast<const Disagreement*>(&error);
    if (disagreement && scope.may_fail) {
      if (!scope.failed) scope.failed = Disagreement(Error(error.kind(), "importing " + problem.text()));
    } else if (!dynamic_cast<const ReportedError*>(&error)) {
      add_problem(std::move(problem));
    }
    // What reads its results can still be judged by itself.
    scope.broken.insert(outputs.begin(), outputs.end());
  }
}

ModelProblem Importer::problem_of(const onnx::NodeProto& proto, const Scope& scope, const std::string& name, const Error& error) const {
  const std::string domain = domain_of(proto), message = error.what();
  const auto version = scope.opsets->find(domain);
  const bool nameless = proto.name.empty() && !proto.output.empty();
  // Branches of different rank, as exporters write them for squeeze(): the extents of the inputs decide which one is taken.
  const bool ranks = message.find("unknown number of dimensions") != std::string::npos;
  return {.kind = error.kind(),
          .node = nameless ? cat(scope.prefix, "-> ", proto.output[0]) : name,
          .outputs = proto.output,
          .op = proto.op_type,
          .domain = domain,
          .opset = version == scope.opsets->end() ? 0 : version->second,
          .message = message,
          .hint = ranks ? shapes_may_decide() : ""};
}

std::string Importer::shapes_may_decide() const {
  std::string inputs;
  std::vector<const ir::Value*> open;
  for (const ir::Value* v : inputs_) {
    if (!v->type.is_tensor()) continue;
    inputs += cat(inputs.empty() ? "" : ", ", "'", v->name, "' [", ir::text(v->dims()), "]");
    if (!ir::is_constant(v->dims())) open.push_back(v);
  }
  if (open.empty()) return "";
  return cat("the shapes of inputs may decide this: ", inputs, "; give extents for those with names, such as ", ir::shape_advice(open));
}

int Importer::opset(const Scope& scope, const std::string& domain) const {
  const auto version = scope.opsets->find(domain);
  if (version == scope.opsets->end() && domain == kContrib) return 1;   // as ONNX Runtime takes nodes that its optimizer left in a model
  require(version != scope.opsets->end(), ErrorKind::invalid_model, "the ", scope.function ? "function" : "model",
          " imports no version of the domain '", domain.empty() ? "ai.onnx" : domain, "'");
  return version->second;
}

// What the node's operator is here; null for a function of the model. Throws unsupported where nothing has that name.
const onnx_ops::FormMatch* Importer::find(const onnx::NodeProto& proto, const Scope& scope) {
  const std::string domain = domain_of(proto);
  if (functions_.count({domain, proto.op_type, proto.overload})) return nullptr;
  const int version = opset(scope, domain);
  const auto& [found, why] = find_or_make(forms_, {domain, proto.op_type, version}, [&] {
    Known known{onnx_ops::find(registry_, domain, proto.op_type, version), ""};
    if (!known.found) known.found = onnx_ops::find(registry_, ir::kAnyDomain, proto.op_type, std::numeric_limits<int>::max());
    if (!known.found) known.missing = missing(domain, proto.op_type, version);
    return known;
  });
  require(found.has_value(), ErrorKind::unsupported, why);
  return &*found;
}

std::vector<ir::Value*> Importer::convert(const onnx::NodeProto& proto, Scope& scope, const std::string& name,
                                          const std::vector<ir::Value*>& inputs, const std::vector<std::string>& outputs) {
  const std::string domain = domain_of(proto);
  const NodeAttributes attributes = resolve(proto, scope);
  if (const auto function = functions_.find({domain, proto.op_type, proto.overload}); function != functions_.end())
    return call(*function->second, scope, name, inputs, attributes, outputs.size());
  const int version = opset(scope, domain);
  if (domain.empty() && proto.op_type == "If")
    if (const auto condition = known_condition(inputs))
      return inlined_body(attributes, *condition ? "then_branch" : "else_branch", {}, scope, name);
  const onnx_ops::FormMatch& found = *find(proto, scope);
  OnnxNode node(*this, scope, attributes, proto.op_type, name, version);
  node.inputs = inputs;
  node.output_names = outputs;
  node.attributes = plain_attributes(proto, attributes, found, version);
  if (domain.empty() && !found.any_domain) check_operands_of_standard(proto.op_type, version, inputs);
  return convert_node(node, found);
}

// An operator of any domain does not know whether a model writes one number as a number or as a list of one: where it has lists, both
// are lists.
void Importer::make_lists(ir::Attributes& given, const ir::Attributes& declared) {
  ir::Attributes made;
  for (const auto& [key, value] : given) {
    const auto like = std::find_if(declared.begin(), declared.end(), [&key = key](const auto& each) { return each.first == key; });
    const auto* i = std::get_if<std::int64_t>(&value);
    const auto* f = std::get_if<float>(&value);
    if (like != declared.end() && i && std::holds_alternative<ir::Ints>(like->second)) made.set(key, ir::Ints{*i});
    else if (like != declared.end() && f && std::holds_alternative<ir::Floats>(like->second)) made.set(key, ir::Floats{*f});
    else made.set(key, value);
  }
  given = std::move(made);
}

// Attributes but for graphs, of the names and types that the operator declares if no conversion looks at them.
ir::Attributes Importer::plain_attributes(const onnx::NodeProto& proto, const NodeAttributes& attributes, const onnx_ops::FormMatch& found,
                                          int opset) {
  ir::Attributes plain;
  if (domain_of(proto).empty() && !found.any_domain) {
    std::map<std::string, int> types;
    for (const auto& [key, value] : attributes) types[key] = attribute_type(*value);
    check_attributes_of_standard(proto.op_type, opset, types);
  }
  for (const auto& [key, value] : attributes) {
    require(!is_graph(*value) || found.form.convert, ErrorKind::invalid_model, "it has no attribute '", key, "'");
    if (key == "consumed_inputs" && opset < 6 && domain_of(proto).empty()) continue;   // which operands' memory may be taken: a hint
    if (!is_graph(*value)) plain.set(key, to_attribute(*value, &files_));
  }
  if (found.any_domain && found.def) make_lists(plain, found.def->attributes);
  onnx_ops::check_attributes(found, plain);
  return plain;
}

// What the operator itself finds wrong, and what is no fault, other shapes might mend.
std::vector<ir::Value*> Importer::convert_node(OnnxNode& node, const onnx_ops::FormMatch& found) {
  try {
    return onnx_ops::convert(node, found);
  } catch (const Disagreement&) {   // of a node in its body
    throw;
  } catch (const ir::Fault&) {
    throw;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::invalid_model) throw;
    throw Disagreement(e);
  }
}

// A node whose operands have no types: its operator and attributes.
void Importer::judge_alone(const onnx::NodeProto& proto, const Scope& scope) {
  if (const onnx_ops::FormMatch* found = find(proto, scope))
    plain_attributes(proto, resolve(proto, scope), *found, opset(scope, domain_of(proto)));
}

std::string Importer::missing(const std::string& domain, const std::string& op, int opset) const {
  int since = 0;
  std::string elsewhere;   // domains that have it
  for (const onnx_ops::Known& known : onnx_ops::known(registry_)) {
    if (known.name != op) continue;
    if (known.domain != domain) elsewhere = cat("; the domain '", known.domain.empty() ? "ai.onnx" : known.domain, "' has it");
    else since = known.since;
  }
  if (since > opset) return cat("supported from opset ", since, " on, and the model uses opset ", opset);
  if (domain == "ai.onnx.preview.training" || domain == "ai.onnx.training")
    return cat("the operator '", op, "' of the domain '", domain, "' is training that plans do not compute: export the model for ",
               "inference, without its optimizer and gradients");
  if (const std::string why = why_refused(domain, op); !why.empty()) return why;
  return cat("there is no operator '", op, "'", domain.empty() ? "" : " in domain '" + domain + "'", elsewhere,
             elsewhere.empty() ? "; a plug-in can add it (BuildConfig::plugins, --plugins=FILE)" : "");
}

std::vector<ir::Value*> Importer::call(const onnx::FunctionProto& function, Scope& scope, const std::string& name,
                                       const std::vector<ir::Value*>& inputs, const NodeAttributes& attributes, std::size_t outputs) {
  const Nesting nesting(depth_);
  charge(function.input.size() + function.attribute_proto.size() + function.opset_import.size());
  for (const Scope* outer = &scope; outer; outer = outer->caller)
    require(outer->function != &function, ErrorKind::invalid_model, "the function '", function.name, "' calls itself");
  require(inputs.size() <= function.input.size(), ErrorKind::invalid_model, "the function '", function.name, "' takes ",
          function.input.size(), " inputs, ", inputs.size(), " are given");
  require(outputs <= function.output.size(), ErrorKind::invalid_model, "the function '", function.name, "' has ",
          function.output.size(), " outputs, ", outputs, " are wanted");
  NodeAttributes bindings = attributes;
  for (const auto& attribute : function.attribute_proto) bindings.try_emplace(attribute.name, &attribute);
  const Opsets opsets = read_opsets(function.opset_import, false);
  Scope inner{.graph = scope.graph,
              .opsets = &opsets,
              .prefix = name + "/",
              .bindings = &bindings,
              .function = &function,
              .caller = &scope,
              .inlined = true};
  for (std::size_t i = 0; i < function.input.size(); ++i) {
    ir::Value* const given = i < inputs.size() ? inputs[i] : nullptr;
    require(inner.names.try_emplace(function.input[i], given).second, ErrorKind::invalid_model, "the function '", function.name,
            "' has two inputs named '", function.input[i], "'");
    if (given && !given->names.empty()) inner.tensors[function.input[i]] = given->names.front();
  }
  const std::int64_t problems = problem_count_;
  nodes(function.node, inner);
  if (problem_count_ > problems) throw ReportedError("the function has nodes that are not supported");
  std::vector<ir::Value*> results;
  for (std::size_t i = 0; i < outputs; ++i) {
    const std::string& output = function.output[i];
    const auto found = inner.names.find(output);
    require(found != inner.names.end(), ErrorKind::invalid_model, "the function '", function.name, "' does not compute its output '",
            output, "'");
    results.push_back(found->second);
  }
  return results;
}

}  // namespace tenfold::onnx_import
