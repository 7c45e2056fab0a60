// Printing what kernels/lib/elements.cu does for a problem.
#include "backends/cuda/codegen/elements.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

std::vector<const OperandDesc*> all_operands(const ElementsProblem& p) {
  std::vector<const OperandDesc*> all = p.in;
  all.insert(all.end(), p.out.begin(), p.out.end());
  return all;
}

class ElementsPrinter {
 public:
  ElementsPrinter(const ElementsProblem& p, IndexSpace& space, int width)
      : p_(p), space_(space), width_(width), last_(static_cast<int>(space.axes().size()) - 1) {}

  // What a thread does with its linear index i.
  std::string statements() {
    std::string out = space_.decode(index(), width_);
    std::vector<std::string> elements;
    for (std::size_t o = 0; o < p_.in.size(); ++o) out += load(o, elements);
    for (std::size_t o = 0; o < p_.out.size(); ++o) out += cat("  ", storage_type(p_.out[o]->dtype), " y", o, "[", width_, "];\n");
    out += cat("  #pragma unroll\n  for (int v = 0; v < ", width_, "; ++v) {\n");
    std::vector<std::string> inputs, results;
    for (std::size_t o = 0; o < elements.size(); ++o) {
      out += cat("    const ", compute_type(p_.body.inputs[o]), " e", o, " = ", elements[o], ";\n");
      inputs.push_back(cat("e", o));
    }
    out += print_body(p_.body, inputs, "t", "    ", results);
    for (std::size_t o = 0; o < p_.out.size(); ++o) out += cat("    y", o, "[v] = ", stored(p_.out[o]->dtype, results[o]), ";\n");
    out += "  }\n";
    for (std::size_t o = 0; o < p_.out.size(); ++o) out += store(o);
    return out;
  }
  std::string index() const { return space_.fits_32_bits(p_.box) ? "u32" : "i64"; }

 private:
  ir::Dim step(int operand) const {
    return last_ < 0 ? ir::Dim(0) : space_.axes()[static_cast<std::size_t>(last_)].strides[static_cast<std::size_t>(operand)];
  }

  std::string load(std::size_t o, std::vector<std::string>& elements) {
    const DType dtype = p_.in[o]->dtype;
    const std::string_view type = storage_type(dtype);
    std::string out =
        cat("  const ", type, "* p", o, " = (const ", type, "*)arguments.in[", o, "] + (", space_.offset(static_cast<int>(o)), ");\n");
    const ir::Dim by = step(static_cast<int>(o));
    if (by == ir::Dim(0) || width_ == 1) {
      elements.push_back(loaded(dtype, cat("x", o)));
      return out + cat("  const ", type, " x", o, " = *p", o, ";\n");
    }
    elements.push_back(loaded(dtype, cat("x", o, "[v]")));
    out += cat("  ", type, " x", o, "[", width_, "];\n");
    if (by == ir::Dim(1)) return out + cat("  read<", width_, ">(p", o, ", x", o, ");\n");
    return out + cat("  #pragma unroll\n  for (int v = 0; v < ", width_, "; ++v) x", o, "[v] = p", o, "[v * ",
                     space_.stride_text(last_, static_cast<int>(o)), "];\n");
  }

  std::string store(std::size_t o) {
    const int operand = static_cast<int>(p_.in.size() + o);
    const std::string to = cat("(", storage_type(p_.out[o]->dtype), "*)arguments.out[", o, "] + (", space_.offset(operand), ")");
    if (width_ == 1 || step(operand) == ir::Dim(1)) return cat("  write<", width_, ">(", to, ", y", o, ");\n");
    return cat("  #pragma unroll\n  for (int v = 0; v < ", width_, "; ++v) (", to, ")[v * ", space_.stride_text(last_, operand), "] = y", o,
               "[v];\n");
  }

  const ElementsProblem& p_;
  IndexSpace& space_;
  int width_, last_;
};

}  // namespace

Verdict can_generate(const ElementsProblem& p) {
  const std::vector<const OperandDesc*> all = all_operands(p);
  if (all.size() > kMaxElementsOperands) return Verdict::no("too many operands");
  for (const OperandDesc* o : all) {
    if (!has_c_type(o->dtype)) return Verdict::no(cat("an operand is ", name(o->dtype)));
  }
  if (Verdict v = can_print(p.body); !v) return v;
  if (p.body.outputs.size() < p.out.size()) return Verdict::no("more outputs than the body has");
  if (p.body.inputs.size() != p.in.size()) return Verdict::no("the body has other operands than the problem");
  for (const OperandDesc* o : p.out)
    if (o->dims != p.dims) return Verdict::no("an output has other dims than what its operands broadcast to");
  return IndexSpace(p.dims, all).verdict();
}

ElementsKernel generate_elements(const ElementsProblem& p) {
  IndexSpace space(p.dims, all_operands(p));
  space.order_by(static_cast<int>(p.in.size()));  // as the first output lies
  space.merge();
  int widest = 1;
  for (const OperandDesc* o : all_operands(p)) widest = std::max(widest, bits(o->dtype) / 8);
  const int width = space.vector_width(std::min(8, 16 / widest), p.box);
  KernelText text;
  text.define("COUNT", space.count_text()), text.define("WIDTH", width), text.define("THREADS", kElementsThreads);
  text.define("INDEX", ElementsPrinter(p, space, width).index());
  text.define_code("VECTORS", ElementsPrinter(p, space, width).statements());
  if (width > 1) text.define_code("SINGLES", ElementsPrinter(p, space, 1).statements());
  text.define("INPUTS", std::max<std::size_t>(p.in.size(), 1)), text.define("OUTPUTS", p.out.size());
  text.define("NUMBERS", std::max<std::size_t>(space.arguments().size(), 1));   // known once all is printed
  return {text.of("lib/elements.cu"), width, std::move(space), static_cast<int>(p.in.size()), static_cast<int>(p.out.size())};
}

}  // namespace tenfold::backends::cuda
