// Growing a graph: single operators.
#include "graph_grower.h"

#include <array>

#include "base/check.h"

namespace tenfold {
namespace {

std::string dims(const std::string& batch, const Shape& rest) {
  std::string s = "[" + batch;
  for (std::int64_t n : rest) s += (s == "[" ? "" : ",") + std::to_string(n);
  return s + "]";
}

}  // namespace

std::string Grower::grow() {
  const Shape start = below(2)   ? Shape{pick({1, 3, 8, 16}), pick({1, 5, 7}), pick({1, 4, 9})}
                      : below(2) ? Shape{pick({5, 8}), pick({8, 12, 16})}
                                 : Shape{pick({1, 6, 8, 33})};
  values_.push_back({"x", start});
  header_ = "x f32" + dims("batch", start);
  if (quantized_) quantized();
  for (int left = 2 + below(9); left > 0; --left) step();
  std::string returned;
  for (const std::string& name : unused()) returned += (returned.empty() ? "" : ", ") + name;
  return "(" + header_ + ")\n" + lists_ + body_ + "  return " + returned + "\n";
}

std::string Grower::constant(const Shape& shape) {
  const std::string name = cat("w", count_++);
  header_ += ", " + name + " f32" + dims("", shape) + "!";
  return name;
}
std::string Grower::number(double value) {
  const std::string name = cat("c", count_++);
  lists_ += cat("  ", name, " = f32[]{", std::to_string(value), "}\n");
  return name;
}
std::string Grower::ints(const std::vector<std::int64_t>& list) {
  const std::string name = cat("i", count_++);
  lists_ += cat("  ", name, " = i64[", list.size(), "]{");
  for (std::size_t i = 0; i < list.size(); ++i) lists_ += cat(i ? "," : "", list[i]);
  lists_ += "}\n";
  return name;
}
std::string Grower::node(const std::string& call, int outputs) {
  const std::string name = cat("v", count_++);
  std::string names = name;
  for (int i = 1; i < outputs; ++i) names += cat(", ", name, "_", i);
  body_ += "  " + names + " = " + call + "\n";
  return name;
}
void Grower::keep(const std::string& name, Shape shape) { values_.push_back({name, std::move(shape)}); }
void Grower::add(const std::string& call, Shape shape) { keep(node(call), std::move(shape)); }

std::vector<std::string> Grower::unused() const {
  std::vector<std::string> names;
  for (const Grown& v : values_)
    if (!v.used && v.name != "x") names.push_back(v.name);
  return names;
}
// Later values more often, so that chains grow; a used value now and then, so that values have several readers.
Grower::Grown& Grower::operand() {
  const int n = static_cast<int>(values_.size());
  Grown& v = values_[static_cast<std::size_t>(below(3) ? n - 1 : below(n))];
  v.used = true;
  return v;
}

void Grower::step() {
  const Grown v = operand();
  return below(3) ? plain_step(v) : piece(v);
}
void Grower::plain_step(const Grown& v) {
  switch (below(v.shape.size() == 3 ? 12 : 9)) {
    case 0: return unary(v);
    case 1: return join(v);
    case 2: return scale(v);
    case 3: return add(cat("Softmax(", v.name, ") axis=", below(2) ? -1 : 1), v.shape);
    case 4: return product(v);
    case 5: return reshape(v);
    case 6: return slice(v);
    case 7: return concat(v);
    case 8: return reduce(v);
    case 9: return pool(v);
    default: return convolve(v);
  }
}
void Grower::unary(const Grown& v) {
  static constexpr std::array kOps{"Relu", "Sigmoid", "Tanh", "Neg", "Abs", "HardSwish", "Gelu", "Erf"};
  add(cat(kOps[static_cast<std::size_t>(below(static_cast<int>(kOps.size())))], "(", v.name, ")"), v.shape);
}
void Grower::join(const Grown& v) {
  for (Grown& other : values_)
    if (other.shape == v.shape && other.name != v.name && below(2)) {
      other.used = true;
      return add(cat(below(2) ? "Add(" : "Mul(", v.name, ", ", other.name, ")"), v.shape);
    }
  add("Add(" + v.name + ", " + v.name + ")", v.shape);
}
void Grower::scale(const Grown& v) {
  Shape shape = v.shape;
  for (std::int64_t& n : shape)
    if (below(2)) n = 1;
  const std::string by = constant(shape);
  add(cat(below(2) ? "Mul(" : "Add(", v.name, ", ", by, ")"), v.shape);
}
void Grower::product(const Grown& v) {
  Shape shape = v.shape;
  const std::int64_t wide = pick({1, 4, 17, 32});
  const std::string by = constant({shape.back(), wide});
  shape.back() = wide;
  add("MatMul(" + v.name + ", " + by + ")", shape);
}
void Grower::reshape(const Grown& v) {
  if (v.shape.size() == 3 && below(2)) {
    const bool swap = below(2) != 0;
    return add("Transpose(" + v.name + ") perm=" + (swap ? "[0,1,3,2]" : "[0,2,3,1]"),
               swap ? Shape{v.shape[0], v.shape[2], v.shape[1]} : Shape{v.shape[1], v.shape[2], v.shape[0]});
  }
  const std::int64_t n = element_count(v.shape);
  const Shape to = v.shape.size() == 3 ? Shape{n} : n % 2 == 0 ? Shape{2, 1, n / 2} : Shape{n, 1, 1};
  std::vector<std::int64_t> list{-1};
  list.insert(list.end(), to.begin(), to.end());
  const std::string shape = ints(list);
  add("Reshape(" + v.name + ", " + shape + ")", to);
}
void Grower::slice(const Grown& v) {
  const std::size_t d = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
  Shape shape = v.shape;
  const std::int64_t first = below(static_cast<int>(shape[d])), step = 1 + below(2);
  const std::string start = ints({first}), end = ints({shape[d]}), axis = ints({static_cast<std::int64_t>(d) + 1}), by = ints({step});
  shape[d] = (shape[d] - first + step - 1) / step;
  add(cat("Slice(", v.name, ", ", start, ", ", end, ", ", axis, ", ", by, ")"), shape);
}
void Grower::concat(const Grown& v) {
  const std::size_t d = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
  for (Grown& other : values_) {
    Shape a = other.shape, b = v.shape;
    if (a.size() != b.size() || element_count(a) + element_count(b) > 4000) continue;
    const std::int64_t sum = a[d] + b[d];
    a[d] = b[d] = sum;
    if (a != b || below(2)) continue;
    other.used = true;
    return add(cat("Concat(", v.name, ", ", other.name, ") axis=", d + 1), a);
  }
  add("Relu(" + v.name + ")", v.shape);
}
void Grower::reduce(const Grown& v) {
  const std::size_t d = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
  Shape shape = v.shape;
  shape[d] = 1;
  add(cat(std::array{"ReduceMean(", "ReduceSum(", "ReduceMax("}[static_cast<std::size_t>(below(3))], v.name, ") axes=[", d + 1,
          "] keepdims=1"),
      shape);
}
void Grower::pool(const Grown& v) {
  const bool global = below(3) == 0;
  if (global) return add("GlobalAveragePool(" + v.name + ")", {v.shape[0], 1, 1});
  add(cat(below(2) ? "MaxPool(" : "AveragePool(", v.name, ") kernel_shape=[3,3] pads=[1,1,1,1]"), v.shape);
}
void Grower::convolve(const Grown& v) {
  const std::int64_t kernel = pick({1, 3}), stride = pick({1, 1, 2}), pad = kernel / 2;
  const bool depthwise = below(3) == 0;
  const std::int64_t filters = depthwise ? v.shape[0] : pick({1, 4, 8, 24});
  const std::string weight = constant({filters, depthwise ? 1 : v.shape[0], kernel, kernel});
  const std::string bias = below(2) ? ", " + constant({filters}) : "";
  const auto out = [&](std::int64_t n) { return (n + 2 * pad - kernel) / stride + 1; };
  add(cat("Conv(", v.name, ", ", weight, bias, ") kernel_shape=[", kernel, ",", kernel, "] pads=[", pad, ",", pad, ",", pad, ",", pad,
          "] strides=[", stride, ",", stride, "] group=", depthwise ? v.shape[0] : 1),
      {filters, out(v.shape[1]), out(v.shape[2])});
}

}  // namespace tenfold
