// Bodies of If, Loop and Scan as closed graphs: what they capture becomes their inputs, captured constants become their own.
#include <algorithm>

#include "base/check.h"
#include "onnx_import/importer.h"
#include "ops/control/control_common.h"

namespace tenfold::onnx_import {

bool OnnxNode::has_graph(std::string_view attribute) const {
  const auto found = attributes_.find(std::string(attribute));
  return found != attributes_.end() && bool(found->second->g);
}

// Whatever is wrong with a body beside what its nodes' operators find is a fault.
std::vector<std::unique_ptr<ir::Graph>> OnnxNode::closed_bodies(const std::vector<std::string>& names,
                                                                const std::vector<std::vector<ir::ValueType>>& formal,
                                                                std::vector<ir::Value*>& captures) {
  try {
    return make_bodies(names, formal, captures);
  } catch (const Disagreement&) {
    throw;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::invalid_model) throw;
    throw ir::Fault(e);
  }
}

std::vector<std::unique_ptr<ir::Graph>> OnnxNode::make_bodies(const std::vector<std::string>& names,
                                                              const std::vector<std::vector<ir::ValueType>>& formal,
                                                              std::vector<ir::Value*>& captures) {
  check(names.size() == formal.size(), "closed_bodies: ", names.size(), " names, ", formal.size(), " lists of types");
  // First what all bodies capture, because each of them gets an input for every capture.
  std::vector<std::map<std::string, ir::Value*>> meanings;
  for (const std::string& attribute : names) {
    require(has_graph(attribute), ErrorKind::invalid_model, "the graph attribute '", attribute, "' is missing");
    auto& by_name = meanings.emplace_back();
    for (const std::string* free : importer_.free_names(*attributes_.at(attribute)->g)) {
      const auto outer = scope_.names.find(*free);
      require(outer != scope_.names.end(), ErrorKind::invalid_model, "its body '", attribute, "' uses '", *free,
              "', which nothing defines");
      ir::Value* value = by_name[*free] = outer->second;
      if (value && !value->is_constant() && std::find(captures.begin(), captures.end(), value) == captures.end()) captures.push_back(value);
    }
  }
  std::vector<std::unique_ptr<ir::Graph>> bodies;
  bool failed = false;                // one branch: it fails when it is taken
  std::exception_ptr reported, unreported;   // what is wrong with one body hides nothing of the next
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& proto = *attributes_.at(names[i])->g;
    // Symbols are named after nodes, so names of nodes must differ between bodies; a body imported again keeps its own.
    std::string& prefix = prefixes_[names[i]];
    if (prefix.empty()) prefix = graph().unique_name(name() + "/" + names[i]) + "/";
    try {
      bodies.push_back(importer_.body(proto, scope_, formal[i], {captures, meanings[i]}, prefix, op() == "If"));
    } catch (const Disagreement& e) {
      if (op() != "If" || failed) throw;
      failed = true;
      bodies.push_back(importer_.failing_body(proto, captures, prefix, e.what()));
    } catch (const ReportedError&) {
      reported = std::current_exception();
    } catch (const Error& e) {
      if (!is_of_model(e.kind())) throw;
      if (!unreported) unreported = std::current_exception();
    }
  }
  if (unreported) std::rethrow_exception(unreported);
  if (reported) std::rethrow_exception(reported);
  return bodies;
}

std::unique_ptr<ir::Graph> Importer::body(const onnx::GraphProto& proto, const Scope& outer, const std::vector<ir::ValueType>& formal,
                                          const Captures& captures, const std::string& prefix, bool may_fail) {
  const Nesting nesting(depth_);
  charge(captures.values.size() + captures.by_name.size());
  auto graph = std::make_unique<ir::Graph>(registry_);
  graph->name = proto.name;
  graph->symbols = outer.graph->symbols;
  Scope scope{.graph = graph.get(), .opsets = outer.opsets, .prefix = prefix, .bindings = outer.bindings, .function = outer.function,
              .caller = outer.caller, .may_fail = may_fail};
  std::unordered_set<std::string> initialized;
  for (const auto& tensor : proto.initializer) initialized.insert(tensor.name);
  std::size_t own = 0;
  for (const auto& input : proto.input) {
    if (initialized.count(input.name)) continue;
    require(own < formal.size(), ErrorKind::invalid_model, "the body '", prefix, "' has more than ", formal.size(), " inputs");
    define(scope, input.name, graph->add_input(input.name, formal[own++]));
  }
  require(own == formal.size(), ErrorKind::invalid_model, "the body '", prefix, "' has ", own, " inputs, ", formal.size(), " are expected");
  std::map<const ir::Value*, ir::Value*> inner;
  for (ir::Value* value : captures.values) {
    inner[value] = graph->add_input(value->name, value->type);
    inner[value]->contents = value->contents, inner[value]->names = value->names;
    named_.insert(inner[value]);
  }
  for (const auto& [name, value] : captures.by_name) {
    ir::Value*& here = inner[value];
    if (value && !here) named_.insert(here = graph->add_constant(value->constant, value->name)), here->names = value->names;
    scope.names[name] = here;
    if (const auto tensor = outer.tensors.find(name); tensor != outer.tensors.end()) scope.tensors.insert(*tensor);
  }
  graph->outputs = contents(proto, scope);
  drop_sequences(*graph);
  finalize_names(*graph);
  return graph;
}

// The initializers and nodes of a body in its scope; its results.
std::vector<ir::Value*> Importer::contents(const onnx::GraphProto& proto, Scope& scope) {
  const std::int64_t problems = problem_count_;
  add_initializers(proto, scope);
  nodes(proto.node, scope);
  if (problem_count_ > problems) throw ReportedError("its body has nodes that are not supported");
  if (scope.failed) throw *scope.failed;
  std::vector<ir::Value*> results;
  for (const auto& output : proto.output) {
    const auto found = scope.names.find(output.name);
    require(found != scope.names.end() && found->second, ErrorKind::invalid_model, "the body '", scope.prefix, "' returns '", output.name,
            "', which nothing defines");
    results.push_back(found->second);
  }
  return results;
}

// In place of a branch that cannot be typed, as in models that test their input's shape first.
std::unique_ptr<ir::Graph> Importer::failing_body(const onnx::GraphProto& proto, const std::vector<ir::Value*>& captures,
                                                  const std::string& prefix, const std::string& why) {
  options_.log(Severity::warning, "the branch '", prefix, "' cannot run with these shapes, and fails if it is taken: ", why);
  auto graph = std::make_unique<ir::Graph>(registry_);
  graph->name = proto.name;
  for (const ir::Value* value : captures) graph->add_input(value->name, value->type);
  ops::make_failing(*graph, proto.output.size(),
                    cat("the branch '", prefix, "' cannot run with the shapes that the model was built for: ", why));
  return graph;
}

std::optional<bool> Importer::known_condition(const std::vector<ir::Value*>& inputs) {
  if (inputs.size() != 1 || !inputs[0] || inputs[0]->dtype() != DType::boolean) return std::nullopt;
  const auto& contents = inputs[0]->contents;
  if (!contents || contents->size() != 1 || !contents->front().is_constant()) return std::nullopt;
  return contents->front().constant() != 0;
}

std::vector<ir::Value*> Importer::inlined_body(const NodeAttributes& attributes, const std::string& attribute,
                                               const std::vector<ir::Value*>& inputs, const Scope& scope, const std::string& name) {
  const Nesting nesting(depth_);
  const auto found = attributes.find(attribute);
  require(found != attributes.end() && bool(found->second->g), ErrorKind::invalid_model, "the graph attribute '", attribute,
          "' is missing");
  const onnx::GraphProto& proto = *found->second->g;
  require(proto.input.size() == inputs.size(), ErrorKind::invalid_model, "its body '", attribute, "' has ", proto.input.size(), " inputs, ",
          inputs.size(), " expected");
  Scope inner{.graph = scope.graph, .opsets = scope.opsets, .prefix = scope.graph->unique_name(name + "/" + attribute) + "/",
              .bindings = scope.bindings, .function = scope.function, .caller = scope.caller, .inlined = true,
              .may_fail = scope.may_fail};   // where it stands in a branch that may
  for (const std::string* free : free_.of(proto)) {
    const auto outer = scope.names.find(*free);
    require(outer != scope.names.end(), ErrorKind::invalid_model, "its body '", attribute, "' uses '", *free, "', which nothing defines");
    inner.names[*free] = outer->second;
    if (const auto tensor = scope.tensors.find(*free); tensor != scope.tensors.end()) inner.tensors.insert(*tensor);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) inner.names[proto.input[i].name] = inputs[i];
  return contents(proto, inner);
}

}  // namespace tenfold::onnx_import
