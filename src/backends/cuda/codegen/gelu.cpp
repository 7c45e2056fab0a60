// Finding GELU: x/2 times 1 + erf(x / sqrt(2)), its factors in any order.
#include "backends/cuda/codegen/gelu.h"

#include <cmath>
#include <utility>

#include "backends/cuda/codegen/byte_rounding.h"

namespace tenfold::backends::cuda {
namespace {

using ir::Instr;
using ir::Prim;

class Gelu {
 public:
  explicit Gelu(const ir::Body& body) : body_(body) {}
  int operand(std::size_t k) const {
    const Instr& end = body_.code[k];
    if (end.prim != Prim::mul || (end.dtype != DType::f16 && end.dtype != DType::bf16)) return -1;
    for (const auto& [a, b] : {std::pair(end.a, end.b), std::pair(end.b, end.a)}) {
      int x = -1;
      if (is(b, 0.5) && product(a, [&](int factor, int other) {
            x = factor;
            return one_and_erf_of(other, factor);
          }))
        return x;
      if (product(a,
                  [&](int factor, int half) {
                    x = factor;
                    return is(half, 0.5);
                  }) &&
          one_and_erf_of(b, x))
        return x;
    }
    return -1;
  }

 private:
  const Instr* at(int v) const {
    const auto inputs = static_cast<int>(body_.inputs.size());
    return v < inputs ? nullptr : &body_.code[static_cast<std::size_t>(v - inputs)];
  }
  bool is(int v, double value) const { return at(v) && at(v)->prim == Prim::constant && std::abs(at(v)->imm - value) < 1e-3 * value; }
  template <class F>
  bool pair_of(Prim prim, int v, F&& fits) const {
    const Instr* i = at(v);
    return i && i->prim == prim && (fits(i->a, i->b) || fits(i->b, i->a));
  }
  template <class F>
  bool product(int v, F&& fits) const {
    return pair_of(Prim::mul, v, fits);
  }
  bool one_and_erf_of(int v, int x) const {
    return pair_of(Prim::add, v, [&](int e, int one) {
      const Instr* erf = at(e);
      if (!is(one, 1) || !erf || erf->prim != Prim::erf) return false;
      const Instr* scaled = at(erf->a);
      return product(erf->a, [&](int a, int b) { return a == x && is(b, M_SQRT1_2); }) ||
             (scaled && scaled->prim == Prim::div && scaled->a == x && is(scaled->b, M_SQRT2));
    });
  }
  const ir::Body& body_;
};

}  // namespace

int gelu_operand(const ir::Body& body, std::size_t k) { return Gelu(body).operand(k); }

std::optional<GeluEpilogue> gelu_epilogue(const ir::Body& body) {
  const int inputs = static_cast<int>(body.inputs.size());
  const auto at = [&](int v) { return v < inputs ? Instr{} : body.code[static_cast<std::size_t>(v - inputs)]; };
  int v = body.outputs[0];
  GeluEpilogue epilogue;
  if (body.type_of(v) == DType::f8e4m3fn) {  // cast, divided by a number, of a cast to f32
    const Instr scaled = at(v).prim == Prim::cast ? at(at(v).a) : Instr{};
    if (scaled.prim != Prim::div || at(scaled.b).prim != Prim::constant || at(scaled.a).prim != Prim::cast) return {};
    epilogue.factor = 1 / at(scaled.b).imm, v = at(scaled.a).a;
  } else if (const std::optional<ByteRounding> bytes = byte_rounding(body)) {
    if (at(bytes->value).prim != Prim::cast) return {};
    epilogue.factor = bytes->factor, v = at(bytes->value).a;
    epilogue.zero = bytes->zero, epilogue.lower = bytes->lower(), epilogue.upper = bytes->upper();
  }
  if (!(epilogue.factor > 1e-4 && epilogue.factor < 6e4)) return {};  // as f16 holds it
  if (body.outputs.size() != 1 || v < inputs || body.type_of(v) != DType::f16) return {};
  const int x = gelu_operand(body, static_cast<std::size_t>(v - inputs));
  if (x < 0) return {};
  epilogue.before = body;
  epilogue.before.outputs[0] = static_cast<std::uint16_t>(x);
  epilogue.before = ir::simplify(epilogue.before);
  return epilogue;
}

}  // namespace tenfold::backends::cuda
