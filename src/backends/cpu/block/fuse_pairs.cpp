// Joins neighboring operations into one loop where the tables have a combined form.
#include <bit>
#include <cmath>

#include "backends/cpu/block/lower.h"

namespace tenfold::backends::cpu {
namespace {

class Fuser {
 public:
  Fuser(Lowered& program, const PointwiseTables& tables) : program_(program), tables_(tables) {}
  void run() {
    for (const Item& item : program_.items) rounds_ = rounds_ || item.op == Op::saturate || item.op == Op::round_even;
    for (std::size_t i = 0; i < program_.items.size(); ++i) {
      Item& item = program_.items[i];
      if (item.lane != LaneType::f32 || item.rounded) continue;
      if (item.op == Op::pow) power(item);
      if (item.op == Op::mul) scale(item);
      if (item.op == Op::add) product_sum(item);
      if (item.op == Op::max || item.op == Op::min) bound(item);
    }
  }

 private:
  bool is(int v, Op op) const {  // only this user sees it
    return !program_.is_input(v) && program_.item(v).op == op && !program_.item(v).rounded && uses_[static_cast<std::size_t>(v)] == 1;
  }
  void become(Item& item, Op op, int a, int b, int c = 0) {
    item.op = op;
    item.arity = op == Op::scale_i32 || op == Op::mul || op == Op::add_relu || op == Op::max_number || op == Op::min_number ? 2 : 3;
    if (op == Op::sqrt || op == Op::rsqrt || op == Op::reciprocal) item.arity = 1;
    item.in[0] = a;
    item.in[1] = b;
    item.in[2] = c;
    item.kernel = tables_.f32->op[static_cast<int>(op)];
    uses_ = program_.use_counts();
  }
  void power(Item& item) {
    if (!program_.is_constant(item.in[1])) return;
    const double e = program_.item(item.in[1]).value;
    const int x = item.in[0];
    if (e == 2)
      become(item, Op::mul, x, x);
    else if (e == 0.5)
      become(item, Op::sqrt, x, 0);
    else if (e == -0.5)
      become(item, Op::rsqrt, x, 0);
    else if (e == -1)
      become(item, Op::reciprocal, x, 0);
  }
  // f32(i32) * b
  void scale(Item& item) {
    for (int k = 0; k < 2; ++k) {
      const int v = item.in[k];
      if (is(v, Op::cast) && program_.item(v).lane == LaneType::i32 && program_.item(v).bytes == 4 && !program_.is_constant(v))
        return become(item, Op::scale_i32, program_.item(v).in[0], item.in[1 - k]);
    }
  }
  void product_sum(Item& item) {
    for (int k = 0; k < 2; ++k) {
      const int v = item.in[k], other = item.in[1 - k];
      if (is(v, Op::mul)) return become(item, Op::fma, program_.item(v).in[0], program_.item(v).in[1], other);
      if (is(v, Op::div) && is_reciprocal(program_.item(v).in[1]))
        return become(item, Op::fma, program_.item(v).in[0], inverse(program_.item(v).in[1]), other);
      if (is(v, Op::scale_i32)) return become(item, Op::scale_add_i32, program_.item(v).in[0], program_.item(v).in[1], other);
    }
  }
  // Quotients by a constant join sums as products with its inverse, unless a rounding to integers follows that would see the
  // last bit.
  bool is_reciprocal(int v) const {
    return !rounds_ && program_.is_constant(v) && uses_[static_cast<std::size_t>(v)] == 1 && std::isnormal(1 / program_.item(v).value);
  }
  int inverse(int v) {  // this constant has no other user
    Item& constant = program_.item(v);
    const auto value = static_cast<float>(1 / constant.value);
    constant.value = value;
    constant.bits = std::bit_cast<std::uint32_t>(value);
    return v;
  }
  // max and min with a constant that is a number need no test for NaN in it; ReLU goes into the sum in front of it.
  void bound(Item& item) {
    for (int k = 0; k < 2; ++k) {
      const int limit = item.in[k], x = item.in[1 - k];
      if (!program_.is_constant(limit) || std::isnan(program_.item(limit).value)) continue;
      const bool is_relu = item.op == Op::max && program_.item(limit).value == 0 && !std::signbit(program_.item(limit).value);
      if (is_relu && is(x, Op::add)) return become(item, Op::add_relu, program_.item(x).in[0], program_.item(x).in[1]);
      if (is_relu && is(x, Op::fma))
        return become(item, Op::fma_relu, program_.item(x).in[0], program_.item(x).in[1], program_.item(x).in[2]);
      return become(item, item.op == Op::max ? Op::max_number : Op::min_number, x, limit);
    }
  }
  Lowered& program_;
  const PointwiseTables& tables_;
  std::vector<int> uses_ = program_.use_counts();
  bool rounds_ = false;
};

}  // namespace

void fuse_pairs(Lowered& program, const PointwiseTables& tables) { Fuser(program, tables).run(); }

}  // namespace tenfold::backends::cpu
