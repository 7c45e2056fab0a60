// Finds subtrees that compute GELU (with erf or tanh) or SiLU of one value, by evaluating them at sample points.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "backends/cpu/block/lower.h"

namespace tenfold::backends::cpu {
namespace {

constexpr double kSamples[] = {-7.1,  -5.3, -4.1, -3.2, -2.6, -2.0, -1.5, -1.1, -0.75, -0.4, -0.17, -0.031,
                               0.023, 0.11, 0.29, 0.61, 0.93, 1.3,  1.9,  2.4,  3.1,   3.9,  4.8,   6.7};
constexpr int kMaxNodes = 24;

double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.))); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
double silu(double x) { return x / (1 + std::exp(-x)); }
struct Form {
  Op op;
  double (*f)(double);
};
constexpr Form kForms[] = {{Op::gelu_erf, gelu_erf}, {Op::gelu_tanh, gelu_tanh}, {Op::silu, silu}};

bool is_curved(Op op) { return op == Op::erf || op == Op::tanh || op == Op::exp || op == Op::sigmoid; }

// The value of one operation, or nothing if it is not one that a smooth activation is written with.
std::optional<double> apply(Op op, double a, double b, double c) {
  switch (op) {
    case Op::neg: return -a;
    case Op::reciprocal: return 1 / a;
    case Op::erf: return std::erf(a);
    case Op::tanh: return std::tanh(a);
    case Op::exp: return std::exp(a);
    case Op::sigmoid: return 1 / (1 + std::exp(-a));
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::pow: return std::pow(a, b);
    case Op::fma: return a * b + c;
    default: return {};
  }
}

// The subtree above `leaf` that computes `root`.
class Subtree {
 public:
  Subtree(const Lowered& program, int root, int leaf) : program_(program), root_(root), leaf_(leaf) { ok_ = gather(root) && curved_ == 1; }
  bool ok() const { return ok_; }
  double largest_error(double (*f)(double)) const {
    double largest = 0;
    for (double x : kSamples) {
      std::map<int, double> known{{leaf_, x}};
      const double error = std::fabs(evaluate(root_, known) - f(x)) / (1 + std::fabs(x));
      if (std::isnan(error)) return INFINITY;
      largest = std::max(largest, error);
    }
    return largest;
  }

 private:
  bool gather(int v) {
    if (v == leaf_ || seen_.count(v) || program_.is_constant(v)) return true;
    if (program_.is_input(v)) return false;
    const Item& item = program_.item(v);
    if (item.lane != LaneType::f32 || item.bytes != 4 || item.rounded || !apply(item.op, 1, 1, 1) || seen_.size() >= kMaxNodes)
      return false;
    seen_[v] = true;
    curved_ += is_curved(item.op);
    for (int k = 0; k < item.arity; ++k)
      if (!gather(item.in[k])) return false;
    return true;
  }
  double evaluate(int v, std::map<int, double>& known) const {
    if (auto it = known.find(v); it != known.end()) return it->second;
    const Item& item = program_.item(v);
    if (item.is_constant()) return item.value;
    double x[3] = {};
    for (int k = 0; k < item.arity; ++k) x[k] = evaluate(item.in[k], known);
    return known[v] = *apply(item.op, x[0], x[1], x[2]);
  }
  const Lowered& program_;
  int root_, leaf_;
  std::map<int, bool> seen_;
  int curved_ = 0;
  bool ok_ = false;
};

// Values that may be the x of an activation rooted at v: it multiplies there, at most three levels down.
void candidates(const Lowered& program, int v, int depth, std::vector<int>& out) {
  if (program.is_constant(v)) return;
  out.push_back(v);
  if (depth == 0 || program.is_input(v)) return;
  const Item& item = program.item(v);
  for (int k = 0; k < item.arity; ++k) candidates(program, item.in[k], depth - 1, out);
}

// The form that the subtree computes, or null. Constants of f16 and bf16 bodies are not what they were meant to be.
const Form* form_of(const Subtree& tree, bool half) {
  const Form* best = nullptr;
  double min = half ? 2e-3 : 1e-6;
  if (!tree.ok()) return nullptr;
  for (const Form& form : kForms)
    if (const double error = tree.largest_error(form.f); error <= min) best = &form, min = error;
  return best;
}

}  // namespace

void recognize(Lowered& program, const PointwiseTables& tables) {
  bool curved = false;
  for (const Item& item : program.items) curved = curved || (item.lane == LaneType::f32 && is_curved(item.op));
  if (!curved) return;
  for (int root = program.inputs() + static_cast<int>(program.items.size()) - 1; root >= program.inputs(); --root) {
    const Op op = program.item(root).op;
    if ((op != Op::mul && op != Op::div && op != Op::fma && op != Op::add) || program.item(root).lane != LaneType::f32) continue;
    std::vector<int> leaves;
    for (int k = 0; k < program.item(root).arity; ++k) candidates(program, program.item(root).in[k], 3, leaves);
    for (int leaf : leaves) {
      const bool half = program.item(root).half;
      const Form* form = form_of(Subtree(program, root, leaf), half);
      if (!form) continue;
      Item item{.op = form->op, .arity = 1, .in = {leaf}, .kernel = tables.f32->op[static_cast<int>(form->op)], .half = half};
      program.item(root) = item;
      break;
    }
  }
  program.sweep();
}

}  // namespace tenfold::backends::cpu
