// The macros of kernels/lib/threads.cuh.
#include "backends/cuda/codegen/threads.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

// The widest thing that indices and places have to hold decides how they are divided.
bool is_narrow(const Problem& p) {
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.missing && p.bounds(ir::product(o.dims)).upper >= std::int64_t{1} << 31) return false;
  return true;
}

std::string raw_type(DType dtype) { return cat("u", bits(dtype)); }

void describe(KernelText& text, const OperandDesc& o, const std::string& suffix, bool given) {
  const bool typed = given && has_c_type(o.dtype);
  text.define("T" + suffix, !given ? "u8" : typed ? std::string(storage_type(o.dtype)) : raw_type(o.dtype));
  text.define("C" + suffix, !given ? "u8" : typed ? std::string(compute_type(o.dtype)) : raw_type(o.dtype));
  text.define("LOAD" + suffix + "(x)", typed ? loaded(o.dtype, "(x)") : "(x)");
  text.define("STORE" + suffix + "(x)", typed ? stored(o.dtype, "(x)") : "(x)");
  text.define("RANK" + suffix, given ? o.dims.size() : 0), text.define("GIVEN" + suffix, given ? 1 : 0);
}

// What `finish` does with r: with as many results as the body has.
std::string print_epilogue(const Problem& p) {
  std::string text;
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
  return text;
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
  if (p.in.size() > kMaxThreadsOperands || p.out.size() > kMaxThreadsOperands) return Verdict::no("too many operands");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side) {
      if (o.missing) continue;
      if (o.layout != kPlain && !same_as_plain(o.layout, o.dims)) return Verdict::no("an operand is not plain");
      if (bits(o.dtype) < 8 || bits(o.dtype) > 64 || o.dtype == DType::string) return Verdict::no("elements are not of 8 to 64 bits");
      if (o.dims.size() > kMaxThreadsDims) return Verdict::no("too many dims");
      if (p.bounds(ir::product(o.dims)).upper >= std::int64_t{1} << 38) return Verdict::no("too many elements");
    }
  return Verdict::only_if(!p.out.empty() && !p.out[0].missing, "nothing is asked for");
}

std::string generate_threads(const Problem& p, std::string_view file, KernelText text) {
  text.define("INPUTS", std::max<std::size_t>(p.in.size(), 1)), text.define("OUTPUTS", p.out.size());
  text.define("INDEX", is_narrow(p) ? "u32" : "u64"), text.define("THREADS", kThreadsOfBlock);
  for (std::size_t i = 0; i < static_cast<std::size_t>(kMaxThreadsOperands); ++i) {
    const bool given = i < p.in.size() && !p.in[i].missing, requested = i < p.out.size() && !p.out[i].missing;
    describe(text, given ? p.in[i] : OperandDesc{}, std::to_string(i), given);
    text.define(cat("OWN", i), given && static_cast<int>(i) < p.anchor_inputs ? 1 : 0);
    describe(text, requested ? p.out[i] : OperandDesc{}, cat("Y", i), requested);
  }
  text.define_code("EPILOGUE", print_epilogue(p));
  return text.of(file);
}

}  // namespace tenfold::backends::cuda
