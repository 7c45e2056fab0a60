// Random networks with and without the channels that pad_channels adds: the same results, and products of whole 16 bytes.
#include "passes/padded_channels.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

// Lines of a graph in text: each reads what came before.
class RandomNetwork {
 public:
  explicit RandomNetwork(unsigned seed) : random_(seed), type_(seed % 3 == 0 ? "bf16" : "f16"), spatial_(seed % 4 == 0 ? 3 : 2) {
    values_.push_back({"x", pick({3, 16})});
    inputs_ = cat("x ", type_, "[", 2, ",", values_[0].channels, extents(), "]");
    for (int i = 0; i < 8; ++i) add();
    product();
  }
  std::string text() {
    std::string outputs = values_.back().name;
    for (std::size_t i = 1; i + 1 < values_.size(); ++i)
      if (random_() % 5 == 0) outputs += ", " + values_[i].name;
    return "(" + inputs_ + ")\n" + lines_ + " return " + outputs + "\n";
  }

 private:
  struct Value { std::string name; std::int64_t channels; };
  std::int64_t pick(std::initializer_list<std::int64_t> of) { return of.begin()[random_() % of.size()]; }
  const Value& any() { return values_[random_() % 3 == 0 ? random_() % values_.size() : values_.size() - 1]; }
  std::string extents(int ones = 0) const {
    std::string text;
    for (int a = 0; a < spatial_; ++a) text += ones > 0 ? cat(",", ones) : ",5";
    return text;
  }
  std::string weight(std::string shape) {
    std::string name = cat("w", weights_++);
    inputs_ += cat(", ", name, " ", type_, "[", shape, "]!");
    return name;
  }
  void line(std::int64_t channels, const std::string& text) {
    values_.push_back({cat("v", values_.size()), channels});
    lines_ += cat(" ", values_.back().name, " = ", text, "\n");
  }
  void product() {
    const Value x = any();
    const std::int64_t filters = pick({9, 12, 16, 20, 21, 24, 31});
    std::string pads;
    for (int a = 0; a < 2 * spatial_; ++a) pads += a > 0 ? ",1" : "1";
    const bool back = random_() % 3 == 0;
    const std::string w = weight(back ? cat(x.channels, ",", filters, extents(3)) : cat(filters, ",", x.channels, extents(3)));
    const std::string bias = random_() % 2 == 0 ? ", " + weight(cat(filters)) : "";
    line(filters, cat(back ? "ConvTranspose(" : "Conv(", x.name, ", ", w, bias, ") pads=[", pads, "]"));
  }
  std::string by_channel(std::int64_t channels) { return weight(cat(channels, extents(1))); }
  void norm(const Value& x) {
    const std::string scale = weight(cat(x.channels)), bias = weight(cat(x.channels));
    line(x.channels, cat("InstanceNormalization(", x.name, ", ", scale, ", ", bias, ")"));
  }
  void add() {
    const Value x = any();
    switch (random_() % 11) {
      case 0: return norm(x);
      case 1: return line(x.channels, cat("PRelu(", x.name, ", ", by_channel(x.channels), ")"));
      case 2: return line(x.channels, cat("Sigmoid(", x.name, ")"));
      case 3: return line(x.channels, cat("Mul(", x.name, ", ", by_channel(x.channels), ")"));
      case 4: return line(x.channels, cat("Relu(", x.name, ")"));
      case 5: return line(x.channels, cat("Softmax(", x.name, ") axis=1"));
      case 6:
        for (const Value& other : values_)
          if (other.channels == x.channels && other.name != x.name) return line(x.channels, cat("Add(", x.name, ", ", other.name, ")"));
        return product();
      case 7: return line(x.channels, cat("Add(", x.name, ", ", by_channel(x.channels), ")"));
      default: return product();
    }
  }

  std::mt19937 random_;
  std::string type_, inputs_, lines_;
  int spatial_, weights_ = 0;
  std::vector<Value> values_;
};

std::vector<Tensor> results_of(const ir::Graph& graph) {
  std::vector<ops::RuntimeValue> inputs;
  for (const ir::Value* v : graph.inputs) inputs.emplace_back(ops::random_tensor(v->dtype(), ir::constants(v->dims()), 7));
  std::vector<Tensor> tensors;
  for (ops::RuntimeValue& one : ops::run_graph(graph, inputs)) tensors.push_back(std::get<Tensor>(one));
  return tensors;
}

TEST(PadChannels, LeaveTheResultsOfRandomNetworks) {
  int changed = 0, filled = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const std::string text = RandomNetwork(seed).text();
    const auto random = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); };
    ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = random});
    const std::vector<Tensor> expected = results_of(graph);
    bool other = false;
    run(graph, {find_pass("pad_channels")}, {.changed = [&](std::string_view, const ir::Graph&) { other = true; }});
    changed += other;
    for (const auto& n : graph.nodes()) {
      const bool product = is_narrow_product(*n) && n->in(0)->producer;
      filled += product && is_narrow_product(*n->in(0)->producer) && n->in(0)->dims()[1].constant() % 8 == 0;
    }
    const std::vector<Tensor> found = results_of(graph);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].shape(), expected[i].shape()) << text << "\n" << ir::print(graph);
      for (std::int64_t e = 0; e < found[i].size(); ++e) {
        const double a = found[i].as_double(e), b = expected[i].as_double(e);
        ASSERT_TRUE(a == b || (a != a && b != b)) << a << " and " << b << " in output " << i << " of\n" << text << "\n" << ir::print(graph);
      }
    }
  }
  EXPECT_GT(changed, 75);
  EXPECT_GT(filled, 50);
}

}  // namespace
}  // namespace tenfold::passes
