// Texts of graphs beyond internal limits, for limits_test and build_time_test.
#pragma once

#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::limits {

inline ir::Graph parse(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

// One input times as many weights, side by side again; each product with a Relu behind it or not.
inline std::string products(int branches, bool activated, int width = 3) {
  std::string header = "(x f32[4,8]", body, all;
  for (int i = 0; i < branches; ++i) {
    const std::string n = std::to_string(i);
    header += ", w" + n + " f32[8," + std::to_string(width) + "]!";
    body += "  p" + n + " = MatMul(x, w" + n + ")\n";
    if (activated) body += "  r" + n + " = Relu(p" + n + ")\n";
    all += (i ? ", " : "") + std::string(activated ? "r" : "p") + n;
  }
  return header + ")\n" + body + "  y = Concat(" + all + ") axis=1\n  return y\n";
}

inline int split_width(int pieces) { return pieces + pieces / 2; }   // 1, 2, 1, 2, ...
inline std::string split(int pieces) {
  std::string sizes, names, nodes, all;
  for (int i = 0; i < pieces; ++i) {
    const std::string n = std::to_string(i), sep = i ? ", " : "";
    sizes += (i ? "," : "") + std::to_string(1 + i % 2);
    names += sep + "p" + n;
    nodes += "  r" + n + " = " + (i % 3 ? "Relu" : "Neg") + "(p" + n + ")\n";
    all += sep + "r" + n;
  }
  return "(x f32[2," + std::to_string(split_width(pieces)) + "])\n  sizes = i64[" + std::to_string(pieces) + "]{" + sizes + "}\n  " +
         names + " = Split(x, sizes) axis=1\n" + nodes + "  y = Concat(" + all + ") axis=1\n  return y\n";
}

// Loops inside each other, each of so many iterations; the innermost computes `z` of what it carries, `carried`: 1 is added.
inline std::string loops(int depth, int iterations = 2, const std::string& z = "Add(carried, one)") {
  std::string open, close;
  for (int d = 0; d < depth; ++d) {
    const std::string n = std::to_string(d), outer = d ? "s" + std::to_string(d - 1) : "x";
    open += "  n" + n + " = i64[]{" + std::to_string(iterations) + "}\n  t" + n + " = bool[]{1}\n  y" + n + " = Loop(n" + n + ", t" + n +
            ", " + outer + ") carried=1 graphs=[\n(i" + n + " i64[], c" + n + " bool[], s" + n + " f32[3])\n";
    close = "  k" + n + " = Identity(c" + n + ")\n  return k" + n + ", " + (d + 1 < depth ? "y" + std::to_string(d + 1) : "z") + "\n]\n" +
            close;
  }
  std::string last = z;
  for (std::size_t at = 0; (at = last.find("carried")) != std::string::npos;) last.replace(at, 7, "s" + std::to_string(depth - 1));
  return "(x f32[3])\n" + open + "  one = f32[]{1}\n  z = " + last + "\n" + close + "  return y0\n";
}

// Graphs of about so many nodes, each in another way.
struct Line { std::string header = "(x f32[4,8]", constants, nodes; int count = 0; };
inline std::string add(Line& g, const std::string& call) {
  const std::string name = "v" + std::to_string(g.count++);
  g.nodes += "  " + name + " = " + call + "\n";
  return name;
}
inline std::string weight(Line& g, const std::string& dims) {
  const std::string name = "w" + std::to_string(g.count);
  g.header += ", " + name + " f32[" + dims + "]!";
  return name;
}
inline std::string vector_of_numbers(Line& g) {
  const std::string name = "c" + std::to_string(g.count);
  g.constants += "  " + name + " = f32[8]{0.5,0.25,1,1,1,1,1," + std::to_string(g.count % 7) + "}\n";
  return name;
}
inline std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

inline std::string pointwise_chain(Line& g, int nodes) {
  std::string x = "x";
  while (g.count < nodes) x = add(g, std::string(g.count % 2 ? "Tanh(" : "Neg(") + x + ")");
  return x;
}
inline std::string product_chain(Line& g, int nodes) {
  std::string x = "x";
  while (g.count < nodes) x = add(g, "Relu(" + add(g, "MatMul(" + x + ", " + weight(g, "8,8") + ")") + ")");
  return x;
}
inline std::string mixed_chain(Line& g, int nodes) {
  std::string x = "x";
  g.constants = "  heads = i64[3]{4,2,4}\n  flat = i64[2]{4,8}\n";
  while (g.count < nodes) {
    const std::string y =
        add(g, "Add(" + x + ", " + add(g, "Softmax(" + add(g, "MatMul(" + x + ", " + weight(g, "8,8") + ")") + ") axis=-1") + ")");
    const std::string turned = add(g, "Transpose(" + add(g, "Reshape(" + y + ", heads)") + ") perm=[0,2,1]");
    const std::string mean =
        add(g, "ReduceMean(" + add(g, "Reshape(" + add(g, "Sigmoid(" + turned + ")") + ", flat)") + ") axes=[1] keepdims=1");
    x = add(g, "Sub(" + y + ", " + mean + ")");
  }
  return x;
}
inline std::string branches(Line& g, int nodes) {
  std::vector<std::string> ends;
  while (g.count < nodes) ends.push_back(add(g, "Softmax(" + add(g, "Mul(x, " + vector_of_numbers(g) + ")") + ") axis=-1"));
  return add(g, "Concat(" + joined(ends) + ") axis=0");
}
inline std::string product_branches(Line& g, int nodes) {
  std::vector<std::string> ends;
  while (g.count < nodes) ends.push_back(add(g, "Relu(" + add(g, "MatMul(x, " + weight(g, "8,8") + ")") + ")"));
  return add(g, "Concat(" + joined(ends) + ") axis=1");
}
inline std::string many_outputs(Line& g, int nodes) {
  std::vector<std::string> ends;
  while (g.count < nodes) ends.push_back(add(g, "Mul(x, " + vector_of_numbers(g) + ")"));
  return joined(ends);
}
inline std::string many_pieces(Line& g, int nodes) {
  std::vector<std::string> pieces, ends;
  std::string sizes;
  for (int i = 0; i < nodes; ++i) pieces.push_back("p" + std::to_string(i)), sizes += i ? ",1" : "1";
  g.header = "(x f32[2," + std::to_string(nodes) + "]";
  g.constants = "  sizes = i64[" + std::to_string(nodes) + "]{" + sizes + "}\n";
  g.nodes = "  " + joined(pieces) + " = Split(x, sizes) axis=1\n";
  for (const std::string& piece : pieces) ends.push_back(add(g, std::string(g.count % 2 ? "Softmax(" : "Neg(") + piece + ")"));
  return add(g, "Concat(" + joined(ends) + ") axis=1");
}
inline std::string many_constants(Line& g, int nodes) {
  std::string x = "x";
  while (g.count < nodes) x = add(g, "Add(" + x + ", " + vector_of_numbers(g) + ")");
  return x;
}
inline std::string diamonds(Line& g, int nodes) {
  std::string x = "x";
  while (g.count < nodes)
    x = add(g, "Mul(" + add(g, "Softmax(" + x + ")") + ", " + add(g, "ReduceMax(" + x + ") axes=[1] keepdims=1") + ")");
  return x;
}

inline ir::Graph large(std::string (*grow)(Line&, int), int nodes) {
  Line g;
  const std::string results = grow(g, nodes);
  return parse(g.header + ")\n" + g.constants + g.nodes + "  return " + results + "\n");
}

}  // namespace tenfold::limits
