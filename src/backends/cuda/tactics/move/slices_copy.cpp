// slices_copy: Concat and Split, several tensors side by side along one axis of a whole: one copy for each part.
#include "backends/cuda/tactics/copy_common.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

struct Kernel {
  std::vector<std::unique_ptr<OpenElements>> copies;
  int axis = 0, element_bytes = 1;
  bool joins = false;
};

// Concat: the parts are the inputs and the whole is the output; otherwise the other way round.
bool joins_parts(const Problem& p) { return p.op->name == "Concat"; }

// A part as it lies in the whole.
OperandDesc inside(const OperandDesc& whole, const OperandDesc& part) {
  OperandDesc o = strided(whole);
  o.dims = part.dims;
  return o;
}
std::size_t parts(const Problem& p, bool joins) { return joins ? p.in.size() : p.out.size(); }

Verdict supports(const Problem& p) {
  const bool joins = joins_parts(p);
  const OperandDesc& whole = joins ? p.out[0] : p.in[0];
  for (std::size_t i = 0; i < parts(p, joins); ++i) {
    const OperandDesc& part = joins ? p.in[i] : p.out[i];
    if (part.missing) return Verdict::no("a part is left out");
    const OperandDesc slice = inside(whole, part);
    if (Verdict v = joins ? can_copy(part, slice, p.box) : can_copy(slice, part, p.box); !v) return v;
  }
  return Verdict::ok();
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all = same_layouts(p);
  if (!joins_parts(p))
    for (Formats& f : all) std::fill(f.in.begin() + 1, f.in.end(), kPlain);  // the sizes of parts
  return all;
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto kernel = std::make_shared<Kernel>();
  const bool joins = kernel->joins = joins_parts(p);
  const OperandDesc& whole = joins ? p.out[0] : p.in[0];
  const auto rank = static_cast<std::int64_t>(whole.dims.size());
  kernel->axis = static_cast<int>((p.attributes->integer("axis", 0) + rank) % rank);
  kernel->element_bytes = bits(whole.dtype) / 8;
  for (std::size_t i = 0; i < parts(p, joins); ++i) {
    const OperandDesc& part = joins ? p.in[i] : p.out[i];
    const OperandDesc slice = inside(whole, part);
    kernel->copies.push_back(joins ? open_copy(part, slice, p, opening) : open_copy(slice, part, p, opening));
  }
  return kernel;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const bool joins = kernel.joins;
  const Bound& whole = joins ? args.out[0] : args.in[0];
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < kernel.copies.size(); ++i) {
    const Bound& part = joins ? args.in[i] : args.out[i];
    BoundView slice(whole);
    std::copy_n(part.dims, part.rank, slice.dims);
    slice.bound.data = static_cast<char*>(whole.data) + offset * whole.strides[kernel.axis] * kernel.element_bytes;
    offset += part.dims[kernel.axis];
    const Status::Code code = joins ? run_copy(*kernel.copies[i], queue_of(args), part, slice.bound)
                                     : run_copy(*kernel.copies[i], queue_of(args), slice.bound, part);
    if (code != Status::ok) return code;
  }
  return Status::ok;
}

}  // namespace

Tactic cuda_slices_copy() {
  return {.name = "slices_copy",
          .ops = {{"Concat", "concat_copy"}, {"Split", "split_copy"}},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"Concat f16[2,35,20,21] f16[2,3,20,21] axis=1"}};
}

}  // namespace tenfold::backends
