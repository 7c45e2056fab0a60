// Growing a graph: pieces of several operators, as exporters write them; what the passes look for, and near misses.
#include <array>

#include "base/check.h"
#include "graph_grower.h"

namespace tenfold {

void Grower::piece(const Grown& v) {
  switch (below(12)) {
    case 0: return split(v);
    case 1: return gather(v);
    case 2: return norm(v);
    case 3: return pieces_of_norm(v);
    case 4: return pieces_of_softmax(v);
    case 5: return chain_of_concats(v);
    case 6: return expand(v);
    case 7: return v.shape.size() == 3 ? channels_last(v) : masked_mean(v);
    case 8: return masked_mean(v);
    case 9: return flat_product(v);
    case 10: return rows(v);
    default: return attention(v);
  }
}

void Grower::split(const Grown& v) {
  const std::size_t d = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
  if (v.shape[d] < 2) return unary(v);
  const std::int64_t first = 1 + below(static_cast<int>(v.shape[d] - 1));
  const std::string sizes = ints({first, v.shape[d] - first});
  const std::string name = node(cat("Split(", v.name, ", ", sizes,
                                    ") axis=", below(2) ? static_cast<int>(d) + 1 : static_cast<int>(d) - static_cast<int>(v.shape.size())),
                                2);
  Shape a = v.shape, b = v.shape;
  a[d] = first, b[d] = v.shape[d] - first;
  keep(name, a);
  keep(name + "_1", b);
}

void Grower::gather(const Grown& v) {
  const std::size_t d = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
  std::vector<std::int64_t> list;
  for (int n = 1 + below(3); n > 0; --n) list.push_back(below(static_cast<int>(v.shape[d])) - (below(3) == 0 ? v.shape[d] : 0));
  Shape shape = v.shape;
  shape[d] = static_cast<std::int64_t>(list.size());
  const std::string indices = ints(list);
  if (list.size() == 1 && v.shape.size() > 1 && below(2)) {   // a scalar index: the dim goes
    const std::string scalar = node("Squeeze(" + indices + ")");
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
    return add(cat("Gather(", v.name, ", ", scalar, ") axis=", d + 1), shape);
  }
  add(cat("Gather(", v.name, ", ", indices, ") axis=", d + 1), shape);
}

void Grower::norm(const Grown& v) {
  const Shape last{v.shape.back()};
  if (v.shape.size() == 3 && below(2)) {
    const std::string scale = constant({v.shape[0]}), bias = constant({v.shape[0]});
    return add(cat("InstanceNormalization(", v.name, ", ", scale, ", ", bias, ") epsilon=0.01"), v.shape);
  }
  const std::string scale = constant(last);
  if (below(2)) return add(cat("RMSNormalization(", v.name, ", ", scale, ") axis=-1 epsilon=0.01"), v.shape);
  add(cat("LayerNormalization(", v.name, ", ", scale, ", ", constant(last), ") axis=-1 epsilon=0.01"), v.shape);
}

// LayerNorm or RMSNorm, the power, the root and the sides of products varied.
void Grower::pieces_of_norm(const Grown& v) {
  const int rank = static_cast<int>(v.shape.size()) + 1;
  const std::string axes = cat("axes=[", below(2) ? -1 : rank - 1, "] keepdims=1");
  std::string x = v.name;
  if (below(2)) x = node(cat("Sub(", x, ", ", node(cat("ReduceMean(", x, ") ", axes)), ")"));
  const std::string square = below(2) ? node(cat("Mul(", x, ", ", x, ")")) : node(cat("Pow(", x, ", ", number(2), ")"));
  const std::string mean = node(cat("ReduceMean(", square, ") ", axes));
  const std::string root = node(cat("Sqrt(", node(cat("Add(", mean, ", ", number(0.01), ")")), ")"));
  std::string y = below(2) ? node(cat("Div(", x, ", ", root, ")")) : node(cat("Mul(", x, ", ", node(cat("Reciprocal(", root, ")")), ")"));
  if (below(4)) y = node(cat("Mul(", constant({v.shape.back()}), ", ", y, ")"));
  if (below(2)) y = node(cat("Add(", y, ", ", constant({v.shape.back()}), ")"));
  keep(y, v.shape);
}

void Grower::pieces_of_softmax(const Grown& v) {
  const int axis = 1 + below(static_cast<int>(v.shape.size()));
  const std::string axes = cat(") axes=[", axis, "] keepdims=1");
  std::string x = node("Tanh(" + v.name + ")");
  if (below(2)) x = node(cat("Sub(", x, ", ", node(cat("ReduceMax(", x, axes)), ")"));
  const std::string e = node("Exp(" + x + ")");
  add(cat("Div(", e, ", ", node(cat("ReduceSum(", e, axes)), ")"), v.shape);
}

void Grower::chain_of_concats(const Grown& v) {
  std::string all = v.name;
  Shape shape = v.shape;
  for (int n = 1 + below(3); n > 0 && element_count(shape) < 4000; --n) {
    const std::string next = node(cat(std::array{"Relu(", "Abs(", "Neg("}[static_cast<std::size_t>(below(3))], all, ")"));
    all = node(cat("Concat(", all, ", ", next, ") axis=1"));
    shape[0] *= 2;
  }
  keep(all, shape);
}

// Transposes around a convolution, with something between it and the next pair, as models from channels-last frameworks have them.
void Grower::channels_last(const Grown& v) {
  const auto turned = [&](const std::string& name, bool back) {
    return node(cat("Transpose(", name, ") perm=", back ? "[0,3,1,2]" : "[0,2,3,1]"));
  };
  std::string x = turned(v.name, false);
  Shape shape = v.shape;
  for (int n = 1 + below(2); n > 0; --n) {
    const std::int64_t filters = pick({1, 4, 6});
    x = turned(x, true);
    x = node(cat("Conv(", x, ", ", constant({filters, shape[0], 1, 1}), ") kernel_shape=[1,1]"));
    x = turned(x, false);
    shape[0] = filters;
    x = node(cat("Add(", x, ", ", constant({filters}), ")"));
    switch (below(5)) {
      case 0: x = node("Relu(" + x + ")"); break;
      case 1: x = node(cat("Concat(", x, ", ", x, ") axis=3")), shape[0] *= 2; break;
      case 2: x = node(cat("Mul(", x, ", ", node(cat("ReduceMean(", x, ") axes=[1,2] keepdims=1")), ")")); break;
      case 3: x = node(cat("Softmax(", x, ") axis=3")); break;
      default: x = node(cat("Pad(", x, ", ", ints({0, 1, 0, 0, 0, 0, 1, 0}), ")")), shape[1] += 1, shape[2] += 1; break;
    }
  }
  if (below(2)) return keep(turned(x, true), shape);
  add(cat("ReduceMean(", x, ") axes=[1,2] keepdims=0"), {shape[0]});
}

// Reductions over the last dim, what comes before, between and behind them, and sometimes a second reader.
void Grower::rows(const Grown& v) {
  std::string x = v.name;
  for (int n = 1 + below(2); n > 0; --n) {
    const std::string from = below(2) ? x : node(cat(below(2) ? "Tanh(" : "Abs(", x, ")"));
    const std::array ops{"ReduceL2(", "ReduceMean(", "ReduceMax(", "ReduceSumSquare(", "ReduceL1("};
    const char* op = ops[static_cast<std::size_t>(below(5))];
    std::string one = node(cat(op, from, ") axes=[", below(2) ? -1 : static_cast<int>(v.shape.size()), "] keepdims=1"));
    if (below(2)) one = node(cat("Max(", one, ", ", number(0.25), ")"));
    if (below(3) == 0) one = node(cat("Sigmoid(", one, ")"));
    x = node(below(2) ? cat("Sub(", below(2) ? x : from, ", ", one, ")") : cat("Div(", x, ", ", node(cat("Exp(", one, ")")), ")"));
    if (below(4) == 0) keep(one, [&] { Shape s = v.shape; s.back() = 1; return s; }());
  }
  keep(x, v.shape);
}

void Grower::expand(const Grown& v) {
  const std::size_t d = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
  Shape one = v.shape;
  one[d] = 1;
  std::vector<std::int64_t> to{1};
  to.insert(to.end(), v.shape.begin(), v.shape.end());
  const std::string narrow = node(cat("ReduceMax(", v.name, ") axes=[", d + 1, "] keepdims=1"));
  const std::string wide = node(cat("Expand(", narrow, ", ", ints(to), ")"));
  if (below(2)) return add(cat("Sub(", v.name, ", ", node("Relu(" + wide + ")"), ")"), v.shape);
  const std::size_t other = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
  Shape reduced = v.shape;
  reduced.erase(reduced.begin() + static_cast<std::ptrdiff_t>(other));
  if (reduced.empty()) return keep(wide, v.shape);
  add(cat("ReduceSum(", wide, ") axes=[", other + 1, "] keepdims=0"), reduced);
}

// The mean of tokens that a mask lets through.
void Grower::masked_mean(const Grown& v) {
  if (v.shape.size() != 2) return unary(v);
  const std::string mask = node(cat("Sigmoid(", node(cat("ReduceMean(", v.name, ") axes=[2] keepdims=1")), ")"));
  const std::string sum = node(cat("ReduceSum(", node(cat("Mul(", v.name, ", ", mask, ")")), ") axes=[1] keepdims=0"));
  add(cat("Div(", sum, ", ", node(cat("ReduceSum(", mask, ") axes=[1] keepdims=0")), ")"), {v.shape[1]});
}

// A product on all tokens of all samples at once, and a residual behind it.
void Grower::flat_product(const Grown& v) {
  if (v.shape.size() != 2) return unary(v);
  const std::string flat = node(cat("Reshape(", v.name, ", ", ints({-1, v.shape[1]}), ")"));
  const std::string p = node(cat("MatMul(", flat, ", ", constant({v.shape[1], v.shape[1]}), ")"));
  const std::string back = node(cat("Reshape(", p, ", ", ints({-1, v.shape[0], v.shape[1]}), ")"));
  if (below(2)) return add(cat("Add(", back, ", ", v.name, ")"), v.shape);
  keep(back, v.shape);
}

// Self-attention with heads, masks and scales in the places where exporters put them; now and then with keys shared by heads.
void Grower::attention(const Grown& v) {
  if (v.shape.size() != 2) return unary(v);
  const std::int64_t tokens = v.shape[0], heads = pick({1, 2, 4}), size = pick({2, 4, 8}), shared = heads == 4 && below(2) ? 2 : heads;
  const bool merged = shared == heads && below(3) == 0;   // batch and heads in one dim
  const auto projected = [&](std::int64_t own) {
    std::string p = node(cat("MatMul(", v.name, ", ", constant({v.shape[1], own * size}), ")"));
    if (below(2)) p = node(cat("Add(", constant({own * size}), ", ", p, ")"));
    p = node(cat("Transpose(", node(cat("Reshape(", p, ", ", ints({-1, tokens, own, size}), ")")), ") perm=[0,2,1,3]"));
    if (own == heads) return merged ? node(cat("Reshape(", p, ", ", ints({-1, tokens, size}), ")")) : p;
    p = node(cat("Expand(", node(cat("Unsqueeze(", p, ", ", ints({2}), ")")), ", ", ints({1, own, heads / own, tokens, size}), ")"));
    return node(cat("Reshape(", p, ", ", ints({-1, heads, tokens, size}), ")"));
  };
  std::string q = projected(heads);
  const std::string k = projected(shared), values = projected(shared);
  const bool early = below(2) != 0;
  if (early) q = node(cat("Mul(", q, ", ", number(0.5), ")"));
  std::string s = node(cat("MatMul(", q, ", ", node(cat("Transpose(", k, ") perm=", merged ? "[0,2,1]" : "[0,1,3,2]")), ")"));
  if (!early) s = node(cat("Div(", s, ", ", number(2), ")"));
  if (below(2)) s = node(cat("Add(", s, ", ", constant({1, tokens, tokens}), ")"));
  if (below(3) == 0) {
    const std::string hidden = node(cat("Greater(", constant({tokens, tokens}), ", ", number(0.5), ")"));
    s = below(2) ? node(cat("Where(", hidden, ", ", number(-1e9), ", ", s, ")"))
                 : node(cat("Where(", hidden, ", ", s, ", ", number(-1e9), ")"));
  }
  std::string y = node(cat("MatMul(", node(cat("Softmax(", s, ") axis=-1")), ", ", values, ")"));
  if (merged) y = node(cat("Reshape(", y, ", ", ints({-1, heads, tokens, size}), ")"));
  y = node(cat("Transpose(", y, ") perm=[0,2,1,3]"));
  add(cat("Reshape(", y, ", ", ints({-1, tokens, heads * size}), ")"), {tokens, heads * size});
}

}  // namespace tenfold
