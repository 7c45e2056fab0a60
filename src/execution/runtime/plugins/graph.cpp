// Plug-ins that are graphs of known operators: their text with the node's operands in front, parsed, and put in the
// node's place.
#include <cstring>
#include <unordered_map>

#include "ir/infer_named.h"
#include "ir/text.h"
#include "ops/elements.h"
#include "ops/interpret.h"
#include "runtime/plugins/operator.h"
#include "runtime/plugins/plugins.h"
#include "runtime/plugins/views.h"

namespace tenfold::runtime {
namespace {

constexpr int kDeepest = 16;  // graphs of graphs
thread_local int depth = 0;

struct Nesting {
  explicit Nesting(const PluginTable& plugin) {
    require(depth < kDeepest, ErrorKind::invalid_argument, plugin_text(plugin), ": graphs stand for graphs, more than ",
            kDeepest, " deep");
    ++depth;
  }
  ~Nesting() { --depth; }
};

std::int32_t set_graph(tenfold_plugin_expand* call, const char* text) noexcept {
  try {
    if (text) return *static_cast<std::string*>(call->host) = text, 0;
    std::snprintf(call->why, call->why_bytes, "the text of its graph is null");
    return static_cast<std::int32_t>(ErrorKind::invalid_argument) + 1;
  } catch (const std::exception&) {
    return static_cast<std::int32_t>(ErrorKind::out_of_memory) + 1;
  }
}

std::string expansion_of(const ir::Node& node, const PluginTable& plugin, const ir::SymbolBounds& box) {
  std::vector<PluginOperandType> types;
  for (const ir::Value* v : node.inputs)
    types.push_back(v ? PluginOperandType{.dtype = v->dtype(),
                                          .dims = v->dims(),
                                          .contents = v->contents ? &*v->contents : nullptr,
                                          .constant = v->is_constant()}
                      : PluginOperandType{.missing = true});
  const AttributeViews attributes(node.attributes, plugin.attribute_names);
  const TypeViews in(types, box);
  std::string text;
  PluginWhy why;
  tenfold_plugin_expand call{sizeof call, attributes.data(),
                             in.data(),   attributes.count(),
                             in.count(),  static_cast<std::int32_t>(node.outputs.size()),
                             0,           set_graph,
                             why.text,    sizeof why.text,
                             &text};
  const std::int32_t code = plugin.table.expand(plugin.table.self, &call);
  expect_done(code, plugin, "expand", why.message());
  require(!text.empty(), ErrorKind::invalid_argument, plugin_text(plugin), " gives no graph");
  return text;
}

// `$NAME` becomes the value of the attribute NAME.
std::string with_attributes(const std::string& text, const ir::Attributes& attributes) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    if (text[i] != '$' || end == i + 1) {
      out += text[i];
      continue;
    }
    const std::string name = text.substr(i + 1, end - i - 1);
    const auto found =
        std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name; });
    require(found != attributes.end(), ErrorKind::invalid_argument, "its graph asks for '$", name,
            "', which is no attribute of it");
    out += ir::text(found->second);
    i = end - 1;
  }
  return out;
}

// The graph that a node stands for. Its inputs are the node's operands that are not constant.
ir::Graph graph_of(const ir::Node& node, const PluginTable& plugin, const ir::SymbolBounds& box) {
  const Nesting nesting(plugin);
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  std::set<std::string> symbols;
  std::string formals, lines;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ir::Value* v = node.inputs[i];
    if (!v) continue;
    const std::string type = ir::text(v->type);
    if (v->is_constant()) {
      lines += cat("in", i, " = constant ", type, " #", constants.size(), "\n");
      constants.push_back(v->constant);
    } else {
      formals += cat(formals.empty() ? "" : ", ", "in", i, " ", type);
      for (ir::Dim d : v->dims())
        for (std::string& s : d.symbols()) symbols.insert(std::move(s));
    }
  }
  std::string head;
  for (const std::string& s : symbols) {
    const ir::Interval range = ir::Dim::symbol(s).bounds(box);
    head += cat("symbol ", s, " [", range.lower, " .. ", range.upper, "] input_dim\n");
  }
  const std::string text = expansion_of(node, plugin, box);
  try {
    ir::Graph graph = ir::parse_graph(cat(head, "(", formals, ")\n", lines, with_attributes(text, node.attributes)),
                                      *plugin.registry, {.constants = &constants});
    require(graph.outputs.size() == node.outputs.size(), ErrorKind::invalid_argument, "its graph returns ",
            graph.outputs.size(), " values for ", node.outputs.size(), " results");
    return graph;
  } catch (Error& e) {
    throw e.within(plugin_text(plugin));
  }
}

// Puts the nodes of a node's graph before it, and takes it out.
void replace(ir::Graph& graph, ir::Node& node) {
  const ir::Graph inner = graph_of(node, plugin_of(*node.def), graph.box());
  std::unordered_map<const ir::Value*, ir::Value*> mapped;
  std::size_t input = 0;
  for (ir::Value* v : node.inputs)
    if (v && !v->is_constant()) mapped[inner.inputs[input++]] = v;
  for (const auto& v : inner.values())
    if (v->is_constant()) {
      const auto same = std::find_if(node.inputs.begin(), node.inputs.end(), [&](const ir::Value* own) {
        return own && own->is_constant() && own->constant == v->constant;
      });
      mapped[v.get()] =
          same != node.inputs.end() ? *same : graph.add_constant(v->constant, cat(node.name, "/", v->name));
    }
  for (const auto& n : inner.nodes()) {
    ir::Node copy;
    copy.def = n->def, copy.name = cat(node.name, "/", n->name.empty() ? n->op() : n->name),
    copy.attributes = n->attributes;
    copy.body = n->body, copy.anchor_inputs = n->anchor_inputs;
    for (const ir::Value* v : n->inputs) copy.inputs.push_back(v ? mapped.at(v) : nullptr);
    for (const auto& g : n->graphs) copy.graphs.push_back(std::make_unique<ir::Graph>(g->clone()));
    const ir::Node* added = graph.add(std::move(copy), static_cast<int>(n->outputs.size()), &node);
    for (std::size_t o = 0; o < n->outputs.size(); ++o) mapped[n->outputs[o]] = added->outputs[o];
  }
  for (std::size_t o = 0; o < node.outputs.size(); ++o)
    graph.replace_uses(node.outputs[o], mapped.at(inner.outputs[o]));
  graph.erase(node);
}

bool is_graph(const ir::Node& node) {
  return node.def->self && node.def->attributes.has(kPluginVersion) && plugin_of(*node.def).table.expand;
}

}  // namespace

void expand_plugins(ir::Graph& graph) {
  bool changed = false;
  for (bool again = true; again; changed |= again) {
    again = false;
    for (ir::Node* node : graph.node_list()) {
      for (const auto& body : node->graphs) expand_plugins(*body);
      if (is_graph(*node)) replace(graph, *node), again = true;
    }
  }
  if (!changed) return;
  for (ir::Node* node : graph.node_list()) ir::infer_named(graph, *node);  // sizes that were found inside have other names now
}

void infer_plugin_graph(ir::InferCall& call) {
  const PluginTable& plugin = plugin_of(*call.node().def);
  const ir::Graph graph = graph_of(call.node(), plugin, call.graph().box());
  std::map<std::string, ir::Dim, std::less<>> found;  // sizes that only the run knows
  for (const ir::Symbol& s : graph.symbols)
    if (s.origin != ir::Origin::input_dim)
      found[s.name] = call.new_symbol(s.name, s.lower.substitute(found), s.upper.substitute(found));
  for (int o = 0; o < call.outputs(); ++o) {
    const ir::Value& result = *graph.outputs[static_cast<std::size_t>(o)];
    ir::ValueType type = result.type;
    for (ir::Dim& d : type.tensor.dims) d = d.substitute(found);
    call.out(o, std::move(type));
    if (!result.contents) continue;
    ir::Dims contents = *result.contents;
    for (ir::Dim& d : contents) d = d.substitute(found);
    call.out_contents(o, std::move(contents));
  }
}

void run_plugin_graph(ir::Call& call) {
  const PluginTable& plugin = plugin_of(*call.node->def);
  const ir::Graph graph = graph_of(*call.node, plugin, {});
  std::vector<ops::RuntimeValue> inputs;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const ir::Value* v = call.node->in(static_cast<int>(i));
    if (v && !v->is_constant())
      inputs.emplace_back(Tensor(call.in[i].dtype, call.in[i].shape,
                                 std::shared_ptr<const void>(std::shared_ptr<void>(), call.in[i].data),
                                 call.in[i].data));
  }
  const std::vector<ops::RuntimeValue> results = ops::run_graph(graph, inputs);
  for (std::size_t o = 0; o < results.size(); ++o) {
    const Tensor* result = std::get_if<Tensor>(&results[o]);
    require(result != nullptr, ErrorKind::unsupported, plugin_text(plugin), " gives a result that is no tensor");
    ops::set_output_shape(call, static_cast<int>(o), result->shape());
    if (result->bytes() > 0) std::memcpy(call.out[o].data, result->raw(), static_cast<std::size_t>(result->bytes()));
  }
}

}  // namespace tenfold::runtime
