// Graphs grown at random, built with random tactics, layouts and cuts, against the reference kernels on the graph as it was.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "base/check.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold {
namespace {

// Grows the text of a graph; the batch is a symbol. Every value is f32 and keeps its batch in front.
class Grower {
 public:
  explicit Grower(std::uint64_t seed) : random_(seed) {}

  std::string grow() {
    const Shape start = below(2) ? Shape{pick({1, 3, 8, 16}), pick({1, 5, 7}), pick({1, 4, 9})} : Shape{pick({1, 6, 8, 33})};
    values_.push_back({"x", start});
    header_ = "x f32" + dims("batch", start);
    for (int left = 2 + below(9); left > 0; --left) step();
    std::string returned;
    for (const std::string& name : unused()) returned += (returned.empty() ? "" : ", ") + name;
    return "(" + header_ + ")\n" + lists_ + body_ + "  return " + returned + "\n";
  }
  Shape start() const { return values_[0].shape; }

 private:
  struct Grown { std::string name; Shape shape; bool used = false; };   // the shape without the batch

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  std::int64_t pick(std::initializer_list<std::int64_t> from) { return from.begin()[below(static_cast<int>(from.size()))]; }
  static std::string dims(const std::string& batch, const Shape& rest) {
    std::string s = "[" + batch;
    for (std::int64_t n : rest) s += (s == "[" ? "" : ",") + std::to_string(n);
    return s + "]";
  }
  std::string constant(const Shape& shape) {
    const std::string name = cat("w", count_++);
    header_ += ", " + name + " f32" + dims("", shape) + "!";
    return name;
  }
  std::string ints(const std::vector<std::int64_t>& list) {
    const std::string name = cat("i", count_++);
    lists_ += cat("  ", name, " = i64[", list.size(), "]{");
    for (std::size_t i = 0; i < list.size(); ++i) lists_ += cat(i ? "," : "", list[i]);
    lists_ += "}\n";
    return name;
  }
  void add(const std::string& call, Shape shape) {
    values_.push_back({cat("v", count_++), std::move(shape)});
    body_ += "  " + values_.back().name + " = " + call + "\n";
  }
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const Grown& v : values_)
      if (!v.used && v.name != "x") names.push_back(v.name);
    return names;
  }
  // Later values more often, so that chains grow; a used value now and then, so that values have several readers.
  Grown& operand() {
    const int n = static_cast<int>(values_.size());
    Grown& v = values_[static_cast<std::size_t>(below(3) ? n - 1 : below(n))];
    v.used = true;
    return v;
  }

  void step() {
    const Grown v = operand();
    switch (below(v.shape.size() == 3 ? 12 : 9)) {
      case 0: return add(std::string(std::array{"Relu", "Sigmoid", "Tanh", "Neg", "Abs"}[static_cast<std::size_t>(below(5))]) + "(" + v.name + ")", v.shape);
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
  void join(const Grown& v) {
    for (Grown& other : values_)
      if (other.shape == v.shape && other.name != v.name && below(2)) {
        other.used = true;
        return add(cat(below(2) ? "Add(" : "Mul(", v.name, ", ", other.name, ")"), v.shape);
      }
    add("Add(" + v.name + ", " + v.name + ")", v.shape);
  }
  void scale(const Grown& v) {
    Shape shape = v.shape;
    for (std::int64_t& n : shape)
      if (below(2)) n = 1;
    const std::string by = constant(shape);
    add(cat(below(2) ? "Mul(" : "Add(", v.name, ", ", by, ")"), v.shape);
  }
  void product(const Grown& v) {
    Shape shape = v.shape;
    const std::int64_t wide = pick({1, 4, 17, 32});
    const std::string by = constant({shape.back(), wide});
    shape.back() = wide;
    add("MatMul(" + v.name + ", " + by + ")", shape);
  }
  void reshape(const Grown& v) {
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
  void slice(const Grown& v) {
    const std::size_t d = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
    Shape shape = v.shape;
    const std::int64_t first = below(static_cast<int>(shape[d])), step = 1 + below(2);
    const std::string start = ints({first}), end = ints({shape[d]}), axis = ints({static_cast<std::int64_t>(d) + 1}), by = ints({step});
    shape[d] = (shape[d] - first + step - 1) / step;
    add(cat("Slice(", v.name, ", ", start, ", ", end, ", ", axis, ", ", by, ")"), shape);
  }
  void concat(const Grown& v) {
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
  void reduce(const Grown& v) {
    const std::size_t d = static_cast<std::size_t>(below(static_cast<int>(v.shape.size())));
    Shape shape = v.shape;
    shape[d] = 1;
    add(cat(std::array{"ReduceMean(", "ReduceSum(", "ReduceMax("}[static_cast<std::size_t>(below(3))], v.name, ") axes=[", d + 1, "] keepdims=1"), shape);
  }
  void pool(const Grown& v) {
    const bool global = below(3) == 0;
    if (global) return add("GlobalAveragePool(" + v.name + ")", {v.shape[0], 1, 1});
    add(cat(below(2) ? "MaxPool(" : "AveragePool(", v.name, ") kernel_shape=[3,3] pads=[1,1,1,1]"), v.shape);
  }
  void convolve(const Grown& v) {
    const std::int64_t kernel = pick({1, 3}), stride = pick({1, 1, 2}), pad = kernel / 2;
    const bool depthwise = below(3) == 0;
    const std::int64_t filters = depthwise ? v.shape[0] : pick({1, 4, 8, 24});
    const std::string weight = constant({filters, depthwise ? 1 : v.shape[0], kernel, kernel});
    const std::string bias = below(2) ? ", " + constant({filters}) : "";
    const auto out = [&](std::int64_t n) { return (n + 2 * pad - kernel) / stride + 1; };
    add(cat("Conv(", v.name, ", ", weight, bias, ") kernel_shape=[", kernel, ",", kernel, "] pads=[", pad, ",", pad, ",", pad, ",", pad, "] strides=[", stride,
            ",", stride, "] group=", depthwise ? v.shape[0] : 1),
        {filters, out(v.shape[1]), out(v.shape[2])});
  }

  std::mt19937_64 random_;
  std::vector<Grown> values_;
  std::string header_, lists_, body_;   // constants stand before the nodes
  int count_ = 0;
};

std::string difference(const Tensor& got, const Tensor& want) {
  if (got.shape() != want.shape()) return "shape [" + text(got.shape()) + "], [" + text(want.shape()) + "] expected";
  double largest = 0.05;   // differences of larger values may cancel out to nothing
  for (std::int64_t i = 0; i < want.size(); ++i)
    if (std::isfinite(want.as_double(i))) largest = std::max(largest, std::abs(want.as_double(i)));
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const double g = got.as_double(i), w = want.as_double(i);
    if (g == w || (std::isnan(g) && std::isnan(w)) || std::abs(g - w) <= 2e-4 * largest) continue;
    return cat("element ", i, " is ", g, ", ", w, " expected");
  }
  return "";
}

std::string run_both(const ir::Graph& graph, const Engine& engine, Shape shape, std::int64_t batch) {
  shape.insert(shape.begin(), batch);
  const Tensor x = ops::random_tensor(DType::f32, shape, static_cast<std::uint64_t>(batch));
  const std::vector<Tensor> got = engine.create_context()->run({x});
  const std::vector<ops::RuntimeValue> want = ops::run_graph(graph, {x});
  for (std::size_t i = 0; i < want.size(); ++i)
    if (const std::string found = difference(got.at(i), std::get<Tensor>(want[i])); !found.empty()) return cat("batch ", batch, ", output ", i, ": ", found);
  return "";
}

void check_seed(std::uint64_t seed) {
  Grower grower(seed);
  const std::string text = grower.grow();
  try {
    const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
    Shape low = grower.start(), opt = low, high = low;
    low.insert(low.begin(), 1), opt.insert(opt.begin(), 2), high.insert(high.begin(), 5);
    BuildConfig config;
    config.threads = 1;
    config.random_choices = seed + 1;
    config.optimization_level = 2;
    config.profiles = {{{"x", {low, opt, high}}}};
    const Engine engine = builder::build_graph(graph, config);
    for (const std::int64_t batch : {1, 5, 3}) ASSERT_EQ(run_both(graph, engine, grower.start(), batch), "") << "seed " << seed << "\n" << text << engine.inspect(1);
  } catch (const Error& error) {
    FAIL() << "seed " << seed << ": " << error.what() << "\n" << text;
  }
}

// TENFOLD_GRAPH_SEED: one seed; TENFOLD_GRAPH_SECONDS: how long.
TEST(RandomGraphs, OptimisedAsReference) {
  if (const char* one = std::getenv("TENFOLD_GRAPH_SEED")) return check_seed(std::strtoull(one, nullptr, 10));
  const char* given = std::getenv("TENFOLD_GRAPH_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(given ? std::atoi(given) : 20);
  std::uint64_t seed = 0;
  for (; std::chrono::steady_clock::now() < end && !(HasFailure() && !given); ++seed) check_seed(seed);
  RecordProperty("graphs", static_cast<int>(seed));
  EXPECT_GT(seed, 10u);
}

}  // namespace
}  // namespace tenfold
