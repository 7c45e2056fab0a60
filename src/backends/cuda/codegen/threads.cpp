// Printing the frame.
#include "backends/cuda/codegen/threads.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kFrame = R"(
struct Operand { void* p; i64 d[8], s[8]; };
struct Arguments { Operand in[INPUTS], out[OUTPUTS]; i64 count; u32* bad_index; };
#define RULE(name) __device__ __forceinline__ void name(const Arguments& a, i64 i)
// Where element i of an operand stands in its extents; the element at these places.
template <int R> __device__ __forceinline__ void places(const Operand& o, i64 i, i64 (&at)[8]) {
  INDEX rest = (INDEX)i;
  #pragma unroll
  for (int d = R - 1; d >= 0; --d) {
    const INDEX extent = (INDEX)o.d[d], above = rest / extent;
    at[d] = (i64)(rest - above * extent);
    rest = above;
  }
}
template <int R> __device__ __forceinline__ i64 offset(const Operand& o, const i64 (&at)[8]) {
  i64 to = 0;
  #pragma unroll
  for (int d = 0; d < R; ++d) to += at[d] * o.s[d];
  return to;
}
template <int R> __device__ __forceinline__ i64 linear(const Operand& o, i64 i) {
  i64 at[8];
  places<R>(o, i, at);
  return offset<R>(o, at);
}
// A negative index counts from the end; what lies outside is noted, and then false.
__device__ __forceinline__ bool inside(const Arguments& a, i64& index, i64 extent) {
  if (index < 0) index += extent;
  if (index >= 0 && index < extent) return true;
  *a.bad_index = 1;
  return false;
}
)";

// The widest thing that indices and places have to hold decides how they are divided.
bool is_narrow(const Problem& p) {
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.missing && p.bounds(ir::product(o.dims)).upper >= std::int64_t{1} << 31) return false;
  return true;
}

std::string raw_type(DType dtype) { return cat("u", bits(dtype)); }

void describe(std::string& head, const OperandDesc& o, const std::string& suffix, bool given) {
  const auto define = [&](const std::string& name, const auto& value) { head += cat("#define ", name, suffix, " ", value, "\n"); };
  const bool typed = given && has_c_type(o.dtype);
  define("T", !given ? "u8" : typed ? std::string(storage_type(o.dtype)) : raw_type(o.dtype));
  define("C", !given ? "u8" : typed ? std::string(compute_type(o.dtype)) : raw_type(o.dtype));
  head += cat("#define LOAD", suffix, "(x) ", typed ? loaded(o.dtype, "(x)") : "(x)", "\n");
  head += cat("#define STORE", suffix, "(x) ", typed ? stored(o.dtype, "(x)") : "(x)", "\n");
  define("RANK", given ? o.dims.size() : 0);
  define("GIVEN", given ? 1 : 0);
}

// The operand of an epilogue at the result's places, to which it is broadcast from the right.
constexpr const char* kBroadcast = R"(
template <int R> __device__ __forceinline__ i64 broadcast(const Operand& o, const i64 (&at)[8]) {
  i64 to = 0;
  #pragma unroll
  for (int d = 0; d < R; ++d) to += o.d[d] == 1 ? 0 : at[d + RANKY0 - R] * o.s[d];
  return to;
}
)";

// `finish`: with as many results as the body has.
std::string finish_text(const Problem& p) {
  std::string text =
      cat(kBroadcast, "template <class R> __device__ __forceinline__ void finish(const Arguments& a, const i64 (&at)[8], R r) {\n");
  std::vector<std::string> results{"(CY0)r"};
  if (p.body) {
    std::vector<std::string> inputs{cat("(", compute_type(p.body->inputs[0]), ")r")};
    for (std::size_t i = static_cast<std::size_t>(p.anchor_inputs); i < p.in.size(); ++i)
      inputs.push_back(cat("LOAD", i, "(((const T", i, "*)a.in[", i, "].p)[broadcast<RANK", i, ">(a.in[", i, "], at)])"));
    results.clear();
    text += print_body(*p.body, inputs, "t", "  ", results);
  }
  for (std::size_t o = 0; o < p.out.size() && o < results.size(); ++o)
    text += cat("  ((TY", o, "*)a.out[", o, "].p)[offset<RANKY", o, ">(a.out[", o, "], at)] = STOREY", o, "(", results[o], ");\n");
  return text + "}\n";
}

}  // namespace

Verdict can_generate_threads(const Problem& p, bool finishes) {
  if (p.body && !finishes) return Verdict::no("no epilogue is possible");
  if (p.body) {
    if (Verdict v = can_print(*p.body); !v) return v;
    for (const auto* side : {&p.in, &p.out})
      for (const OperandDesc& o : *side)
        if (!o.missing && !has_c_type(o.dtype)) return Verdict::no(cat("an operand is ", name(o.dtype)));
    if (p.body->inputs.size() != p.in.size() - static_cast<std::size_t>(p.anchor_inputs) + 1 || p.body->outputs.size() < p.out.size())
      return Verdict::no("the body has other operands than the problem");
    for (const OperandDesc& o : p.out)
      if (o.dims != p.out[0].dims) return Verdict::no("the results differ in dims");
  }
  if (p.in.size() > kMostThreadsOperands || p.out.size() > kMostThreadsOperands) return Verdict::no("too many operands");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side) {
      if (o.missing) continue;
      if (o.layout != kPlain && !same_as_plain(o.layout, o.dims)) return Verdict::no("an operand is not plain");
      if (bits(o.dtype) < 8 || bits(o.dtype) > 64 || o.dtype == DType::string) return Verdict::no("elements are not of 8 to 64 bits");
      if (o.dims.size() > kMostThreadsDims) return Verdict::no("too many dims");
      if (p.bounds(ir::product(o.dims)).upper >= std::int64_t{1} << 38) return Verdict::no("too many elements");
    }
  return Verdict::only_if(!p.out.empty() && !p.out[0].missing, "nothing is asked for");
}

std::string generate_threads(const Problem& p, const std::string& defines, std::string_view text,
                             const std::vector<std::string>& functions) {
  std::string source = cat(prelude(), "#define INPUTS ", std::max<std::size_t>(p.in.size(), 1), "\n#define OUTPUTS ", p.out.size(),
                           "\n#define INDEX ", is_narrow(p) ? "u32" : "u64", "\n#define THREADS ", kThreadsOfBlock, "\n");
  for (std::size_t i = 0; i < static_cast<std::size_t>(kMostThreadsOperands); ++i) {
    const bool given = i < p.in.size() && !p.in[i].missing, wanted = i < p.out.size() && !p.out[i].missing;
    describe(source, given ? p.in[i] : OperandDesc{}, std::to_string(i), given);
    source += cat("#define OWN", i, " ", given && static_cast<int>(i) < p.anchor_inputs ? 1 : 0, "\n");
    describe(source, wanted ? p.out[i] : OperandDesc{}, cat("Y", i), wanted);
  }
  source += cat(defines, kFrame, finish_text(p), text);
  for (const std::string& f : functions)
    source += cat("extern \"C\" __global__ void __launch_bounds__(THREADS) kernel_", f,
                  "(const __grid_constant__ Arguments a) {\n  enter();\n"
                  "  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;\n  if (i < a.count) ",
                  f, "(a, i);\n}\n");
  return source;
}

}  // namespace tenfold::backends::cuda
