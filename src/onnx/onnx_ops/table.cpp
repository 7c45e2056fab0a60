// The table of ONNX operators: what the build collects from file names, with the domains of their folders, beside a registry's.
#include "onnx_ops/table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "ir/text.h"

namespace tenfold::onnx_ops {

std::vector<OnnxOp> all_onnx_ops();   // generated: onnx_table.cpp

OnnxOp in_folder(const char* folder, OnnxOp op) {
  static const std::map<std::string_view, const char*> domains = {
      {"ai_onnx", ""}, {"microsoft", "com.microsoft"}, {"ml", "ai.onnx.ml"}, {"preview", "ai.onnx.preview"},
      {"tensorrt", kAnyDomain}, {"training", "ai.onnx.preview.training"}};
  const auto domain = domains.find(folder);
  check(domain != domains.end(), "src/onnx/onnx_ops/", folder, " stands for no domain");
  op.domain = domain->second;
  return op;
}

namespace {

using Key = std::pair<std::string_view, std::string_view>;
Key key(const OnnxOp& op) { return {op.domain, op.name}; }

const OnnxOp* find_file(std::string_view domain, std::string_view name) {
  const Key requested(domain, name);
  const std::vector<OnnxOp>& all = builtin();
  const auto at = std::lower_bound(all.begin(), all.end(), requested, [](const OnnxOp& op, const Key& w) { return key(op) < w; });
  return at != all.end() && key(*at) == requested ? &*at : nullptr;
}

bool is_written(const OpDef& def) { return def.onnx_since > 0; }

}  // namespace

const std::vector<OnnxOp>& builtin() {
  static const std::vector<OnnxOp> all = [] {
    std::vector<OnnxOp> list = all_onnx_ops();
    std::sort(list.begin(), list.end(), [](const OnnxOp& a, const OnnxOp& b) { return key(a) < key(b); });
    for (std::size_t i = 1; i < list.size(); ++i)
      check(key(list[i - 1]) < key(list[i]), "two files of onnx_ops/ define ", list[i].name, " of the domain '", list[i].domain, "'");
    return list;
  }();
  return all;
}

std::optional<FormMatch> find(const Registry& registry, std::string_view domain, std::string_view name, int opset) {
  std::optional<FormMatch> best;
  if (const OnnxOp* op = find_file(domain, name))
    for (const OnnxForm& form : op->forms)
      if (form.since <= opset && (!best || form.since > best->form.since)) best = FormMatch{form, nullptr, domain == kAnyDomain};
  if (best && !best->form.convert && !best->form.definition) best->def = &registry.get(name);
  for (const OpDef* def : registry.all())
    if (is_written(*def) && def->onnx_name == name && def->onnx_domain == domain && def->onnx_since <= opset &&
        (!best || def->onnx_since >= best->form.since))
      best = FormMatch{def->onnx_since, def, domain == kAnyDomain};
  return best;
}

void check_attributes(const FormMatch& match, const Attributes& attributes) {
  if (match.def) return ir::check_attributes(*match.def, attributes);
  if (!match.form.definition) return;
  const Definition definition = read_definition(match.form.definition);
  ir::check_attributes(definition.attributes, definition.other_attributes, attributes);
  for (const std::string& name : definition.needed_attributes) validate(attributes.has(name), "attribute '", name, "' is missing");
}

std::vector<Value*> convert(OnnxImport& node, const FormMatch& match) {
  if (match.form.convert) return match.form.convert(node);
  if (match.def) return node.add(match.def->name, node.inputs, node.attributes, node.outputs());
  const std::size_t max = read_definition(match.form.definition).operands.size();
  validate(node.inputs.size() <= max, node.op(), " has ", node.inputs.size(), " inputs, at most ", max, " expected");
  return add_definition(node.graph(), match.form.definition, node.inputs, node.attributes, node.name());
}

std::vector<Known> known(const Registry& registry) {
  std::map<std::pair<std::string, std::string>, int> first;
  const auto note = [&](const std::string& domain, const std::string& name, int since) {
    const auto [at, fresh] = first.try_emplace({domain, name}, since);
    if (!fresh) at->second = std::min(at->second, since);
  };
  for (const OnnxOp& op : builtin())
    for (const OnnxForm& form : op.forms) note(op.domain, op.name, form.since);
  for (const OpDef* def : registry.all())
    if (is_written(*def)) note(def->onnx_domain, def->onnx_name, def->onnx_since);
  std::vector<Known> list;
  for (const auto& [key, since] : first) {
    const auto newest = find(registry, key.first, key.second, std::numeric_limits<int>::max());
    list.push_back({key.first, key.second, since, newest->def ? newest->def->types.text() : "",
                    newest->def ? attributes_text(*newest->def) : ""});
  }
  return list;
}

}  // namespace tenfold::onnx_ops
