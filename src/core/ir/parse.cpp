// Reading a graph from its text form, and the nodes of a definition into a graph.
#include <unordered_map>

#include "base/check.h"
#include "ir/fault.h"
#include "ir/nesting.h"
#include "ir/op_def.h"
#include "ir/scan.h"
#include "ir/text.h"

namespace tenfold::ir {
namespace {

struct Parser {
  Scanner in;
  const Registry& registry;
  const ParseOptions& options;
  const Attributes* parameters = nullptr;   // of a definition: the attributes of the node that it stands for; null: a graph
  std::string node_name = "";               // of a definition: that node's
  std::uint64_t seed = 1;
  int depth = 0;

  using Names = std::unordered_map<std::string, Value*>;

  Value* lookup(const Names& names, const std::string& name) {
    auto it = names.find(name);
    if (it == names.end()) in.bad("unknown value '" + name + "'");
    return it->second;
  }
  Value* operand(Graph& g, const Names& names, const std::string& name) {
    if (name == "_") return nullptr;
    return parameters && name.front() == '@' ? constant_of(g, name.substr(1)) : lookup(names, name);
  }
  void define(Names& names, const std::string& name, Value* value) {
    if (!names.emplace(name, value).second) in.bad("value '" + name + "' is defined twice");
    if (!parameters) value->name = name;
  }
  Tensor random(const ValueType& type) {
    if (!options.random_constant) in.bad("a constant without a number");
    if (!is_constant(type.tensor.dims)) in.bad("a constant needs a constant shape");
    return options.random_constant(type.tensor.dtype, constants(type.tensor.dims), seed++);
  }

  void symbols(Graph& g) {
    while (in.take("symbol ")) {
      Symbol s;
      s.name = in.name();
      in.expect('[');
      const std::string range = in.until("]");
      in.expect(']');
      const std::size_t dots = range.find("..");
      if (dots == std::string::npos) in.bad("'..' expected in a symbol's range");
      s.lower = Dim::parse(range.substr(0, dots)), s.upper = Dim::parse(range.substr(dots + 2));
      s.origin = in.take("host_value") ? Origin::host_value : Origin::input_dim;
      if (s.origin == Origin::input_dim) in.take("input_dim");
      g.symbols.push_back(std::move(s));
    }
  }
  void formals(Graph& g, Names& names) {
    in.expect('(');
    while (!in.take(')')) {
      const std::string name = in.name();
      const ValueType type = parse_type(in);
      Value* v = in.take('!') ? g.add_constant(random(type), name, true) : g.add_input(name, type);
      for (Dim d : type.tensor.dims)
        for (const std::string& s : d.symbols()) known_symbol(g, s);
      define(names, name, v);
      in.take(',');
    }
  }
  void known_symbol(Graph& g, const std::string& name) {
    for (const Symbol& s : g.symbols)
      if (s.name == name) return;
    g.symbols.push_back({.name = name});
  }
  Value* constant(Graph& g, const std::string& name) {
    const ValueType type = parse_type(in);
    if (!in.take('#')) return g.add_constant(random(type), name, true);
    const std::int64_t number = in.integer();
    if (!options.constants || number < 0 || number >= static_cast<std::int64_t>(options.constants->size()))
      in.bad("there is no such constant");
    auto stored = (*options.constants)[static_cast<std::size_t>(number)];
    if (TensorType{stored->tensor.dtype(), to_dims(stored->tensor.shape())} != type.tensor) in.bad("the constant has another type");
    return g.add_constant(std::move(stored), name);
  }
  void node(Graph& g, Names& names, const std::vector<std::string>& results) {
    Node node;
    const std::string op = in.name();
    node.def = registry.find(op);
    if (!node.def) in.bad("there is no operator '" + op + "'");
    in.expect('(');
    while (!in.take(')')) {
      node.inputs.push_back(operand(g, names, in.name()));
      in.take(',');
    }
    std::vector<NameList> tensors;
    details(node, names, tensors);
    if (parameters && in.take("if ")) {
      const bool given = lookup(names, in.name()) != nullptr;
      if (!in.take("else ")) in.bad("'else' expected");
      Value* const otherwise = lookup(names, in.name());
      if (!given) return void(names.emplace(results[0], otherwise));
    }
    while (!node.inputs.empty() && parameters && !node.inputs.back()) node.inputs.pop_back();
    if (node.name.empty()) node.name = parameters ? node_name : results[0];
    Node* added = g.add(std::move(node), static_cast<int>(results.size()));
    for (std::size_t i = 0; i < results.size(); ++i) define(names, results[i], added->outputs[i]);
    for (std::size_t i = 0; i < std::min(results.size(), tensors.size()); ++i) added->outputs[i]->names = tensors[i];
  }
  // Lists of numbers in braces: {1,2;;3}
  std::vector<NameList> lists() {
    std::vector<NameList> all(1);
    in.expect('{');
    while (!in.take('}')) {
      if (in.take(';')) all.emplace_back();
      else if (const std::int64_t n = in.integer(); n < 0 || n > INT32_MAX) in.bad("a number of a name is out of range");
      else join(all.back(), {static_cast<std::int32_t>(n)});
      in.take(',');
    }
    return all;
  }
  NameList tensors_of_constant() {
    Scanner ahead = in;
    if (!ahead.take("tensors=") || ahead.peek() != '{') return {};   // else the next statement
    in = ahead;
    return lists().front();
  }
  // Attributes and the rest of a node, up to the next statement: words of the form key=value.
  void details(Node& node, const Names& names, std::vector<NameList>& tensors) {
    for (;;) {
      Scanner ahead = in;
      if (!(std::isalpha(static_cast<unsigned char>(ahead.peek())) || ahead.peek() == '_')) return;
      const std::string key = ahead.name();
      if (key == "return" || ahead.peek() != '=') return;
      ahead.expect('=');
      if (ahead.peek() != '"' && ahead.peek() != '[' && ahead.peek() != '{' && std::isalpha(static_cast<unsigned char>(ahead.peek())) &&
          !literal_follows(ahead)) return;   // "y=Relu(...)": the next statement
      in = ahead;
      if (key == "body") {
        in.expect('{');
        node.body = parse_body(in);
        in.expect('}');
      } else if (key == "numerics" && in.peek() == '{') {   // an attribute of that name, a plug-in's, has no brace
        node.numerics = parse_numerics(in);
      } else if (key == "model" && in.peek() == '{') {
        const std::vector<NameList> sources = lists();
        node.sources = {sources.front(), sources.back()};
        if (sources.size() != 2) in.bad("two lists expected");
      } else if (key == "tensors" && in.peek() == '{') {
        tensors = lists();
      } else if (key == "anchor_inputs") {
        node.anchor_inputs = static_cast<int>(in.integer());
        if (node.anchor_inputs < 0 || node.anchor_inputs > static_cast<int>(node.inputs.size())) in.bad("anchor_inputs is out of range");
      } else if (key == "name") {
        node.name = in.quoted();
      } else if (key == "graphs") {
        in.expect('[');
        while (!in.take(']')) node.graphs.push_back(std::make_unique<Graph>(graph()));
      } else if (parameters && in.take('@')) {
        set_from_parameter(node, key, names);
      } else {
        node.attributes.set(key, parse_attribute(in));
      }
    }
  }
  // key=@attribute, or key=@type(value): the name of an operand's type.
  void set_from_parameter(Node& node, const std::string& key, const Names& names) {
    if (in.take("type(")) {
      const Value* of = lookup(names, in.name());
      in.expect(')');
      if (of) node.attributes.set(key, std::string(name(of->dtype())));
    } else if (const Attribute* value = parameter(in.name())) {
      node.attributes.set(key, *value);
    }
  }
  const Attribute* parameter(const std::string& name) const {
    for (const auto& [key, value] : *parameters)
      if (key == name) return &value;
    return nullptr;
  }
  // An attribute as an operand: its integers as i64[n]; null where the node has none of that name.
  Value* constant_of(Graph& g, const std::string& name) {
    const Attribute* value = parameter(name);
    if (!value) return nullptr;
    const Ints list = std::holds_alternative<std::int64_t>(*value) ? Ints{parameters->integer(name)} : parameters->ints(name);
    Tensor tensor(DType::i64, {static_cast<std::int64_t>(list.size())});
    std::copy(list.begin(), list.end(), tensor.mutable_data<std::int64_t>());
    return g.add_constant(std::move(tensor));
  }
  static bool literal_follows(Scanner ahead) {
    if (ahead.looking_at("inf") || ahead.looking_at("nan")) return true;
    const std::string word = ahead.until("[({ \n,");
    return dtype_from_name(word).has_value();
  }
  Graph graph() {
    if (++depth > kMaxNested + 1) in.bad("graphs are nested too deeply");
    Graph g(registry);
    Names names;
    symbols(g);
    formals(g, names);
    statements(g, names);
    if (in.take("return")) {
      do g.outputs.push_back(lookup(names, in.name()));
      while (in.take(','));
    } else if (!g.nodes().empty()) {
      g.outputs = g.nodes().back()->outputs;
    }
    --depth;
    return g;
  }
  void statements(Graph& g, Names& names) {
    while (in.peek() != '\0' && in.peek() != ']' && !in.looking_at("return")) {
      std::vector<std::string> results;
      do results.push_back(in.name());
      while (in.take(','));
      in.expect('=');
      if (in.take("constant ")) {
        define(names, results[0], constant(g, results[0]));
        names[results[0]]->names = tensors_of_constant();
      } else if (literal_follows(in)) {
        define(names, results[0], g.add_constant(parse_literal(in), results[0]));
        names[results[0]]->names = tensors_of_constant();
      } else {
        node(g, names, results);
      }
    }
  }
};

// What a definition takes: operands with `?` where they may be left out, then attributes.
Definition head(Scanner& in) {
  Definition d;
  in.expect('(');
  while (!in.take(')')) {
    d.operands.push_back({.name = in.name()});
    d.operands.back().optional = in.take('?');
    in.take(',');
  }
  for (;;) {
    Scanner ahead = in;
    const std::string key = ahead.name();
    if (ahead.peek() != '=') break;
    ahead.expect('=');
    if (std::isalpha(static_cast<unsigned char>(ahead.peek()))) {
      Scanner type = ahead;
      const std::string word = type.name();
      const bool needed = type.peek() == '!';
      if (!needed && type.peek() != '?') break;   // the first statement
      d.other_attributes.add(key, kind_from_name(word));
      if (needed) d.needed_attributes.push_back(key);
      type.expect(needed ? '!' : '?');
      in = type;
    } else {
      d.attributes.set(key, parse_attribute(in = ahead));
    }
  }
  return d;
}

}  // namespace

Graph parse_graph(std::string_view text, const Registry& registry, const ParseOptions& options) {
  Parser parser{Scanner(text), registry, options};
  Graph g = parser.graph();
  parser.in.expect_end();
  return g;
}

Definition read_definition(std::string_view text) {
  Scanner in(text);
  return head(in);
}

std::vector<Value*> add_definition(Graph& graph, std::string_view text, const std::vector<Value*>& operands, const Attributes& attributes,
                                   const std::string& node_name) {
  const ParseOptions options;
  Parser parser{Scanner(text), graph.registry(), options};
  const Definition definition = head(parser.in);
  Attributes given = definition.attributes;
  for (const auto& [key, value] : attributes) given.set(key, value);
  parser.parameters = &given, parser.node_name = node_name;
  Parser::Names names;
  for (std::size_t i = 0; i < definition.operands.size(); ++i) {
    Value* const value = i < operands.size() ? operands[i] : nullptr;
    validate(value || definition.operands[i].optional, "input ", i, " (", definition.operands[i].name, ") is missing");
    names[definition.operands[i].name] = value;
  }
  parser.statements(graph, names);
  std::vector<Value*> results;
  if (!parser.in.take("return")) parser.in.bad("'return' expected");
  do results.push_back(parser.operand(graph, names, parser.in.name()));
  while (parser.in.take(','));
  parser.in.expect_end();
  return results;
}

}  // namespace tenfold::ir
