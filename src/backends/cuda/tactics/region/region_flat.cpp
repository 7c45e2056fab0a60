// region_flat: any pointwise operator or Region as one generated kernel, in any layouts and strides.
#include "backends/cuda/codegen/region/pointwise.h"
#include "backends/cuda/tactics/elements_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  ElementsProblem elements;
  return as_elements(p, elements);
}

// Operands of the result's rank in one layout, results in the same or, where that saves a copy, in another; smaller operands are
// broadcast and stay plain.
std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all;
  const std::size_t rank = p.out[0].dims.size();
  const auto add = [&](Layout in, Layout out) {
    Formats f;
    for (const OperandDesc& o : p.in) f.in.push_back(!o.missing && !o.constant && o.dims.size() == rank ? in : kPlain);
    f.out.assign(p.out.size(), out);
    all.push_back(std::move(f));
  };
  add(kPlain, kPlain);
  if (rank < 3) return all;
  add(kChannelsLast, kChannelsLast);
  if (p.in.size() == 1) add(kPlain, kChannelsLast), add(kChannelsLast, kPlain);
  return all;
}

struct Kernel {
  OpenElements elements;
  std::vector<std::size_t> inputs;  // which operands are there
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  ElementsProblem elements;
  as_elements(p, elements);
  auto kernel = std::make_shared<Kernel>(Kernel{OpenElements(elements, *p.device, opening), {}});
  for (std::size_t i = 0; i < p.in.size(); ++i)
    if (!p.in[i].missing) kernel->inputs.push_back(i);
  return kernel;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound* operands[kMaxElementsOperands];
  std::size_t n = 0;
  for (std::size_t i : kernel.inputs) operands[n++] = &args.in[i];
  for (const Bound& b : args.out) operands[n++] = &b;
  return kernel.elements.run(queue_of(args), args.out[0].dims, {operands, n});
}

// Every thread reads its elements before it writes them.
bool may_alias(const Problem& p, int in, int) {
  const OperandDesc& x = p.in[static_cast<std::size_t>(in)];
  return p.out.size() == 1 && x.dims == p.out[0].dims && x.layout == p.out[0].layout && x.dense && p.out[0].dense &&
         bits(x.dtype) == bits(p.out[0].dtype);
}

}  // namespace

Tactic cuda_region_flat() {
  return {.name = "region_flat",
          .ops = {"*pointwise"},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .cases = {"Add f16[4,70,304] f16[70,1]",
                    "Gelu f16[3,50000](-9,9)"}};
}

}  // namespace tenfold::backends
