// Printing epilogues of products.
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

ir::Body without_last_rounding(ir::Body body, DType out) {
  const std::size_t inputs = body.inputs.size();
  if (body.outputs[0] < inputs) return body;
  const ir::Instr last = body.code[body.outputs[0] - inputs];
  if (last.prim != ir::Prim::cast || last.dtype != out || !is_float(out) || body.type_of(last.a) != DType::f32) return body;
  body.outputs[0] = last.a;
  const ir::Instr before = last.a < inputs ? ir::Instr{} : body.code[last.a - inputs];
  if (bits(out) == 8 && before.prim == ir::Prim::div && before.b >= inputs && body.code[before.b - inputs].prim == ir::Prim::constant) {
    const auto factor = static_cast<std::uint16_t>(body.value_count());
    body.code.push_back({.prim = ir::Prim::constant, .dtype = DType::f32, .imm = 1 / body.code[before.b - inputs].imm});
    body.code.push_back({.prim = ir::Prim::mul, .dtype = DType::f32, .a = before.a, .b = factor});
    body.outputs[0] = static_cast<std::uint16_t>(factor + 1);
  }
  return ir::simplify(body);
}

namespace {

// The body of `inputs`, and what happens to its result; `wide`: what lies between stays in f32.
std::string print_results(const GemmProblem& p, const std::vector<std::string>& inputs, bool wide, const Printer& store) {
  std::vector<std::string> results{"sum[v]"};
  std::string out = "    #pragma unroll\n    for (int v = 0; v < WIDTH; ++v) {\n";
  if (p.body) {
    const ir::Body body = without_last_rounding(*p.body, p.out);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      out += cat("      const ", compute_type(body.inputs[i]), " e", i, " = ", inputs[i], ";\n");
      names.push_back(cat("e", i));
    }
    out += print_body(body, names, "t", "      ", results, wide);
  }
  return out + cat("      ", store(results[0]), "\n    }\n");
}

}  // namespace

std::string print_epilogue(const GemmProblem& p, int staged, const Printer& store, const Printer& by_row, const Printer& by_column) {
  std::string out;
  bool wide = bits(p.in) == 8;  // whether intermediate results stay in f32
  std::vector<std::string> inputs{"(sum[v])"};
  for (std::size_t o = 0; o < p.epilogue.size(); ++o) {
    const DType dtype = p.epilogue[o].dtype;
    const std::string array = cat("x", o), from = cat("(const ", storage_type(dtype), "*)a.epilogue[", o, "]");
    if (p.epilogue[o].kind == EpilogueKind::single) {
      out += cat("    const ", storage_type(dtype), " ", array, " = *(", from, ");\n");
      inputs.push_back(loaded(dtype, array));
      continue;
    }
    if (p.epilogue[o].kind == EpilogueKind::row) {
      wide = true;
      if (by_row) {
        inputs.push_back(by_row(std::to_string(o)));
        continue;
      }
      out += cat("    const ", storage_type(dtype), " ", array, " = (", from, ")[m];\n");
      inputs.push_back(loaded(dtype, array));
      continue;
    }
    if (const std::string at = p.epilogue[o].kind == EpilogueKind::column && by_column ? by_column(std::to_string(o)) : ""; !at.empty()) {
      inputs.push_back(loaded(dtype, at));
      continue;
    }
    out += cat("    ", storage_type(dtype), " ", array, "[WIDTH];\n");
    if (static_cast<int>(o) == staged)
      out += cat("    read_staged(", array, ");\n");
    else
      out += cat("    read<WIDTH>(", from, p.epilogue[o].kind == EpilogueKind::whole ? cat(" + m * ", p.width(), " + n, ") : " + n, ",
                 array, ");\n");
    inputs.push_back(loaded(dtype, array + "[v]"));
  }
  return out + print_results(p, inputs, wide, store);
}

EpilogueText print_epilogue_apart(const GemmProblem& p, const Printer& store) {
  EpilogueText text;
  bool wide = bits(p.in) == 8;
  std::vector<std::string> inputs{"(sum[v])"};
  for (std::size_t o = 0; o < p.epilogue.size(); ++o) {
    const EpilogueOperand& operand = p.epilogue[o];
    const bool by_element = operand.kind == EpilogueKind::whole || operand.kind == EpilogueKind::column;
    const std::string name = cat("x", o), from = cat("(const ", storage_type(operand.dtype), "*)a.epilogue[", o, "]");
    text.fields += cat(storage_type(operand.dtype), " ", name, by_element ? "[WIDTH]" : "", "; ");
    if (by_element)
      text.reads += cat("    read<WIDTH>(", from, operand.kind == EpilogueKind::whole ? cat(" + m * ", p.width(), " + n, x.") : " + n, x.",
                        name, ");\n");
    else
      text.reads += cat("    x.", name, " = (", from, ")[", operand.kind == EpilogueKind::row ? "m" : "0", "];\n");
    inputs.push_back(loaded(operand.dtype, cat("x.", name, by_element ? "[v]" : "")));
    wide |= operand.kind == EpilogueKind::row;
  }
  text.results = print_results(p, inputs, wide, store);
  return text;
}

}  // namespace tenfold::backends::cuda
