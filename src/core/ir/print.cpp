// The text form of a graph: symbols, formal inputs, one line per constant and node, results.
#include "base/check.h"
#include "ir/op_def.h"
#include "ir/text.h"

namespace tenfold::ir {
namespace {

constexpr std::int64_t kLiteralLimit = 16;   // longer constants are listed by number, or left out

std::string word(const std::string& name) {
  const bool plain =
      !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-$@") == std::string::npos;
  return plain ? name : text(Attribute(name));
}

std::string numbers(const NameList& list) {
  std::string text;
  for (const std::int32_t n : list) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

struct Printer {
  const PrintOptions& options;
  std::string out;

  void formals(const Graph& g) {
    out += "(";
    for (std::size_t i = 0; i < g.inputs.size(); ++i) out += (i ? ", " : "") + word(g.inputs[i]->name) + " " + text(g.inputs[i]->type);
    out += ")\n";
  }
  void constants(const Graph& g, const std::string& indent) {
    for (const auto& v : g.values()) {
      if (!v->is_constant() || (v->users.empty() && !g.is_output(v.get()))) continue;
      const Tensor& t = v->constant->tensor;
      out += indent + word(v->name) + " = ";
      if (options.constants) {
        options.constants->push_back(v->constant);
        out += "constant " + text(v->type) + " #" + std::to_string(options.constants->size() - 1);
      } else if (t.size() <= kLiteralLimit) {
        out += text(Attribute(t));
      } else {
        out += "constant " + text(v->type);
      }
      if (options.model_names && !v->names.empty()) out += " tensors={" + numbers(v->names) + "}";
      out += "\n";
    }
  }
  void node(const Node& n, const std::string& indent) {
    out += indent;
    for (std::size_t i = 0; i < n.outputs.size(); ++i) out += (i ? ", " : "") + word(n.outputs[i]->name);
    out += " = " + n.op() + "(";
    for (std::size_t i = 0; i < n.inputs.size(); ++i) out += (i ? ", " : "") + (n.inputs[i] ? word(n.inputs[i]->name) : "_");
    out += ")";
    for (const auto& [key, value] : n.attributes) {
      if (n.def->attributes.has(key)) {   // defaults go without saying
        bool is_default = false;
        for (const auto& [k, v] : n.def->attributes) is_default = is_default || (k == key && equal(v, value));
        if (is_default) continue;
      }
      out += " " + key + "=" + text(value);
    }
    out += numerics_words(n.numerics);
    if (n.body) {
      if (n.anchor_inputs >= 0) out += " anchor_inputs=" + std::to_string(n.anchor_inputs);
      out += " body={" + text(*n.body) + "}";
    }
    if (options.names && n.name != n.outputs[0]->name) out += " name=" + text(Attribute(n.name));
    if (options.model_names) model_names(n);
    if (!n.graphs.empty()) {
      out += " graphs=[\n";
      for (const auto& g : n.graphs) graph(*g, indent + "    ");
      out += indent + "]";
    }
    if (options.types) out += "   // " + text(n.outputs[0]->type);
    out += "\n";
  }
  void model_names(const Node& n) {
    if (!n.sources.empty()) out += " model={" + numbers(n.sources.own) + ";" + numbers(n.sources.behind) + "}";
    std::string tensors;
    bool any = false;
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
      tensors += (i ? ";" : "") + numbers(n.outputs[i]->names);
      any = any || !n.outputs[i]->names.empty();
    }
    if (any) out += " tensors={" + tensors + "}";
  }
  void graph(const Graph& g, const std::string& indent) {
    for (const Symbol& s : g.symbols) {
      static constexpr const char* kOrigins[] = {"input_dim", "host_value"};
      if (options.symbols)
        out += indent + "symbol " + s.name + " [" + s.lower.text() + " .. " + s.upper.text() + "] " + kOrigins[static_cast<int>(s.origin)] +
               "\n";
    }
    out += indent;
    formals(g);
    constants(g, indent + "  ");
    for (const auto& n : g.nodes()) node(*n, indent + "  ");
    out += indent + "  return ";
    for (std::size_t i = 0; i < g.outputs.size(); ++i) out += (i ? ", " : "") + word(g.outputs[i]->name);
    out += "\n";
  }
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  Printer printer{options, {}};
  printer.graph(graph, "");
  return std::move(printer.out);
}
std::string print(const Graph& graph) { return print(graph, PrintOptions{.types = true}); }

}  // namespace tenfold::ir
