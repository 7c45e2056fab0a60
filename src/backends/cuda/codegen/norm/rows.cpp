// The macros of row kernels, and how many threads they have.
#include "backends/cuda/codegen/norm/rows.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

// Where term t of a row begins.
std::string place_of(const RowTerm& term, std::size_t t) {
  const std::string n = std::to_string(t), rows = cat("(const IN*)a.x[", n, "]"), count = cat("(u32)row % (u32)a.count[", n, "]");
  if (!term.indexed) return cat("const IN* x", n, " = ", rows, " + ", count, " * (i64)N;\n");
  return cat("i64 at", n, " = ((const ", storage_type(term.index), "*)a.index[", n, "])[", count, "];\n",  //
             "if (at", n, " < 0) at", n, " += a.extent[", n, "];\n",                                       //
             "const IN* x", n, " = at", n, " >= 0 && at", n, " < a.extent[", n, "] ? ", rows, " + at", n, " * N : nullptr;\n", "if (x", n,
             " == nullptr && t == 0) *(u32*)a.bad_index = 1;\n");
}
std::string addition_of(const RowTerm& term, std::size_t t) {
  const std::string there = term.indexed ? cat(" && x", t, " != nullptr") : "";  // a branch would keep loads from going out together
  return cat("if (at < N", there, ") {\n  IN raw[V];\n  read<V>(x", t,
             " + at, raw);\n  #pragma unroll\n  for (int i = 0; i < V; ++i) v[k][i] += LOAD(raw[i]);\n}\n");
}

// The second result of `at` and the elements behind it.
std::string quantizing(const RowProblem& p) {
  if (p.quantized == DType::count_) return "";
  const auto factor = std::bit_cast<std::int32_t>(static_cast<float>(1 / p.quantized_scale));
  std::string value = cat(loaded(p.out, "raw[i]"), " * __int_as_float(", factor, ")");
  if (is_float(p.quantized)) {
    value = stored(p.quantized, value);
  } else {
    const bool is_signed = p.quantized == DType::i8;
    if (p.quantized_zero != 0) value = cat("rintf(", value, ") + (float)", p.quantized_zero);
    value = cat("saturated<QUANTIZED>(", value, ", ", is_signed ? "-128, 127)" : "0, 255)");
  }
  return cat("QUANTIZED small[V];\n    for (int i = 0; i < V; ++i) small[i] = ", value,
             ";\n    write<V>((QUANTIZED*)a.quantized + row * N + at, small);");
}

// How an element is stored: of rows that are quantized a number of steps.
std::string storing(const RowProblem& p) {
  if (p.kind != RowKind::quantize || is_float(p.out)) return stored(p.out, "(r)");
  return cat("(", storage_type(p.out), ")(int)(rintf(r)", p.out == DType::u8 ? " + 128.f)" : ")");
}

}  // namespace

RowKernel generate_rows(const RowProblem& p) {
  RowKernel k;
  int widest = 1;
  for (DType t : {p.in, p.out, p.scale, p.bias}) widest = std::max(widest, bits(t) / 8);
  k.width = 16 / widest;
  while (p.length % k.width != 0) k.width /= 2;
  constexpr int kLongestOfWarp = 1024;  // its sums need no barrier: loads of other rows go on meanwhile
  if (p.length > kLongestOfWarp) k.threads = 128;
  while (k.threads > 32 && k.threads < 1024 && p.length > k.threads * 16) k.threads *= 2;
  while (k.threads > 8 && k.threads <= 32 && p.length <= k.threads / 2 * k.width) k.threads /= 2;  // short rows share a warp
  k.rows = k.threads <= 32 ? 128 / k.threads : 1;
  KernelText text;
  text.define("KIND", static_cast<int>(p.kind)), text.define("IN", storage_type(p.in)), text.define("OUT", storage_type(p.out));
  text.define("SCALE", storage_type(p.scale)), text.define("BIAS", storage_type(p.bias)), text.define("HAS_BIAS", p.has_bias ? 1 : 0);
  text.define("N", p.length), text.define("THREADS", k.threads), text.define("ROWS", k.rows), text.define("WIDTH", k.width);
  text.define("EPSILON", cat(p.epsilon, "f")), text.define("LOAD(r)", loaded(p.in, "(r)")), text.define("STORE(r)", storing(p));
  if (p.kind == RowKind::quantize) text.define("LARGEST", is_float(p.out) ? "448.f" : "127.f");
  text.define("LOAD_SCALE(r)", loaded(p.scale, "(r)")), text.define("LOAD_BIAS(r)", loaded(p.bias, "(r)"));
  text.define("QUANTIZED", p.quantized == DType::count_ ? "void" : storage_type(p.quantized)), text.define("TERMS", p.terms.size());
  std::string places, additions;
  for (std::size_t t = 0; t < p.terms.size(); ++t) places += place_of(p.terms[t], t), additions += addition_of(p.terms[t], t);
  text.define_code("PLACES", places), text.define_code("ADD_TERMS", additions), text.define_code("QUANTIZE", quantizing(p));
  k.source = text.of("norm/rows.cu");
  return k;
}

}  // namespace tenfold::backends::cuda
