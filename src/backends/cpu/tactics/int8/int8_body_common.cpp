// Reading the body behind an int8 product: users, numbers, shapes, and GELU in any spelling.
#include "backends/cpu/tactics/int8/int8_body_common.h"

#include <algorithm>
#include <cmath>

namespace tenfold::backends::cpu {

Int8Body::Shape Int8Body::shape_of(int input) const {
  const OperandDesc& operand = problem_.in[static_cast<std::size_t>(problem_.anchor_inputs + input - 1)];
  const ir::Dims& out = problem_.out[0].dims;
  if (!operand.dense || operand.dims.size() > out.size()) return Shape::other;
  const std::size_t lead = out.size() - operand.dims.size();
  bool one = true, column = true, full = lead == 0, row = full && axis_ + 1 == static_cast<int>(out.size());
  for (std::size_t i = 0; i < operand.dims.size(); ++i) {
    const bool same = operand.dims[i] == out[lead + i];
    full = full && same;
    row = row && (i + 1 == out.size() ? operand.dims[i] == ir::Dim(1) : same);
    if (operand.dims[i] == ir::Dim(1)) continue;
    one = false;
    column = column && same && static_cast<int>(lead + i) == axis_;
  }
  if (one) return Shape::one;
  if (column) return Shape::column;
  if (row) return Shape::row;
  return full && operand.layout == problem_.out[0].layout ? Shape::full : Shape::other;
}

bool Int8Body::is_row(int value) const {
  return value > 0 && !is_code(value) && body_.inputs[static_cast<std::size_t>(value)] == DType::f32 && shape_of(value) == Shape::row;
}

int Int8Body::only_user(int value) const {
  int user = -1;
  for (std::size_t i = 0; i < body_.code.size(); ++i) {
    const ir::Instr& instr = body_.code[i];
    const int n = ir::arity(instr.prim);
    const bool uses = (n > 0 && instr.a == value) || (n > 1 && instr.b == value) || (n > 2 && instr.c == value);
    if (!uses) continue;
    if (user >= 0) return -1;
    user = static_cast<int>(body_.inputs.size() + i);
  }
  return user;
}

std::optional<double> Int8Body::number(int value) const {
  if (!is_code(value)) return {};
  if (code(value).prim == ir::Prim::constant) return code(value).imm;
  if (code(value).prim == ir::Prim::cast) return number(code(value).a);
  return {};
}

std::optional<Int8Form::Term> Int8Body::term(int value) const {
  if (const auto n = number(value)) return Int8Form::Term{-1, static_cast<float>(*n)};
  if (is_code(value) || value == 0 || body_.inputs[static_cast<std::size_t>(value)] != DType::f32) return {};
  const Shape shape = shape_of(value);
  if (shape != Shape::one && shape != Shape::column) return {};
  return Int8Form::Term{value, 1};
}

// What every value gives if `leaf` is x; NaN where it needs anything else but numbers.
std::vector<double> Int8Body::values_at(int leaf, double x) const {
  std::vector<double> v(body_.inputs.size() + body_.code.size(), std::nan(""));
  for (int i = leaf; i < static_cast<int>(v.size()); ++i) {
    const auto known = [&](int of) { return number(of).value_or(v[static_cast<std::size_t>(of)]); };
    double& to = v[static_cast<std::size_t>(i)];
    if (i == leaf) {
      to = x;
      continue;
    }
    switch (code(i).prim) {
      case ir::Prim::add: to = known(code(i).a) + known(code(i).b); break;
      case ir::Prim::mul: to = known(code(i).a) * known(code(i).b); break;
      case ir::Prim::div: to = known(code(i).a) / known(code(i).b); break;
      case ir::Prim::erf: to = std::erf(known(code(i).a)); break;
      default: break;
    }
  }
  return v;
}

int Int8Body::gelu_of(int x) const {
  const int end = static_cast<int>(body_.inputs.size() + body_.code.size());
  if (!is_code(x)) return -1;
  std::vector<bool> fits(static_cast<std::size_t>(end), true);
  for (const double v : {-3.7, -2.1, -1.3, -0.4, 0.2, 0.9, 1.6, 2.8, 4.4}) {
    const std::vector<double> values = values_at(x, v);
    const double truth = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    for (std::size_t i = 0; i < fits.size(); ++i) fits[i] = fits[i] && std::abs(values[i] - truth) <= 1e-6;
  }
  const int root = static_cast<int>(std::find(fits.begin(), fits.end(), true) - fits.begin());
  const auto between = [&](int value) { return value >= x && value < root && !number(value); };
  for (int i = root + 1; i < end; ++i) {
    const int n = ir::arity(code(i).prim);
    if ((n > 0 && between(code(i).a)) || (n > 1 && between(code(i).b)) || (n > 2 && between(code(i).c))) return -1;
  }
  return root < end ? root : -1;
}

}  // namespace tenfold::backends::cpu
