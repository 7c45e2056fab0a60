// One copy for each part.
#include "backends/cuda/tactics/move/slices_common.h"

namespace tenfold::backends::cuda {
namespace {

struct Kernel {
  std::vector<std::unique_ptr<OpenElements>> copies;
  int axis = 0, element_bytes = 1;
};

// A part as it lies in the whole.
OperandDesc inside(const OperandDesc& whole, const OperandDesc& part) {
  OperandDesc o = strided(whole);
  o.dims = part.dims;
  return o;
}
std::size_t parts(const Problem& p, bool joins) { return joins ? p.in.size() : p.out.size(); }

template <bool kJoins>
Verdict supports(const Problem& p) {
  const OperandDesc& whole = kJoins ? p.out[0] : p.in[0];
  for (std::size_t i = 0; i < parts(p, kJoins); ++i) {
    const OperandDesc& part = kJoins ? p.in[i] : p.out[i];
    if (part.missing) return Verdict::no("a part is left out");
    const OperandDesc slice = inside(whole, part);
    if (Verdict v = kJoins ? can_copy(part, slice, p.box) : can_copy(slice, part, p.box); !v) return v;
  }
  return Verdict::ok();
}

template <bool kJoins>
std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all = same_layouts(p);
  if (!kJoins)
    for (Formats& f : all) std::fill(f.in.begin() + 1, f.in.end(), kPlain);  // the sizes of parts
  return all;
}

template <bool kJoins>
std::shared_ptr<const void> open(const Problem& p, const Config&) {
  auto kernel = std::make_shared<Kernel>();
  const OperandDesc& whole = kJoins ? p.out[0] : p.in[0];
  const auto rank = static_cast<std::int64_t>(whole.dims.size());
  kernel->axis = static_cast<int>((p.attributes->integer("axis", 0) + rank) % rank);
  kernel->element_bytes = bits(whole.dtype) / 8;
  for (std::size_t i = 0; i < parts(p, kJoins); ++i) {
    const OperandDesc& part = kJoins ? p.in[i] : p.out[i];
    const OperandDesc slice = inside(whole, part);
    kernel->copies.push_back(kJoins ? open_copy(part, slice, p) : open_copy(slice, part, p));
  }
  return kernel;
}

template <bool kJoins>
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& whole = kJoins ? args.out[0] : args.in[0];
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < kernel.copies.size(); ++i) {
    const Bound& part = kJoins ? args.in[i] : args.out[i];
    BoundView slice(whole);
    std::copy_n(part.dims, part.rank, slice.dims);
    slice.bound.data = static_cast<char*>(whole.data) + offset * whole.strides[kernel.axis] * kernel.element_bytes;
    offset += part.dims[kernel.axis];
    const Status::Code code = kJoins ? run_copy(*kernel.copies[i], queue_of(args), part, slice.bound)
                                     : run_copy(*kernel.copies[i], queue_of(args), slice.bound, part);
    if (code != Status::ok) return code;
  }
  return Status::ok;
}

template <bool kJoins>
Tactic tactic(const char* name, const char* op) {
  return {.name = name,
          .op = op,
          .supports = supports<kJoins>,
          .configs = one_config,
          .formats = formats<kJoins>,
          .open = open<kJoins>,
          .run = run<kJoins>};
}

}  // namespace

Tactic slices_tactic(const char* name, const char* op, bool joins) { return joins ? tactic<true>(name, op) : tactic<false>(name, op); }

}  // namespace tenfold::backends::cuda
