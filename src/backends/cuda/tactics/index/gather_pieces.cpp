// gather_pieces: Gather along any axis, in pieces of up to 16 bytes. An index outside the table gives zeros and is noted.
#include "backends/cuda/codegen/index/gather.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

Verdict supports(const Problem& p) {
  if (p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  if (bits(p.in[0].dtype) < 8 || p.in[0].dtype == DType::string) return Verdict::no("elements are smaller than a byte");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))) return Verdict::no("an operand is not dense and plain");
  return Verdict::ok();
}

struct Kernel {
  std::shared_ptr<const LoadedModule> modules[5];  // for pieces of 1, 2, 4, 8 and 16 bytes
  Function functions[5] = {};
  int64_t axis = 0, element_bytes = 1;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  const auto rank = static_cast<int64_t>(p.in[0].dims.size());
  k->axis = (p.attributes->integer("axis", 0) + rank) % rank;
  k->element_bytes = bits(p.in[0].dtype) / 8;
  const ir::Dim row = ir::product(std::span(p.in[0].dims).subspan(static_cast<std::size_t>(k->axis) + 1)) * ir::Dim(k->element_bytes);
  for (int s = 0; s < 5; ++s) {  // the largest piece that rows divide into; and the element, for addresses that are not aligned
    const bool fits = row.divisible_by(int64_t{1} << s), larger = s < 4 && row.divisible_by(int64_t{2} << s);
    if (!fits || (larger && (int64_t{1} << s) != k->element_bytes)) continue;
    k->modules[s] = device_of(*p.device).load(generate_gather(p.in[1].dtype, 1 << s), opening);
    k->functions[s] = k->modules[s]->function("gather");
  }
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &table = args.in[0], &index = args.in[1];
  GatherArguments a{table.data, index.data, args.out[0].data, 1, table.dims[k.axis], 1, k.element_bytes, queue_of(args).bad_index};
  for (int64_t d = 0; d < k.axis; ++d) a.outer *= table.dims[d];
  for (int64_t d = k.axis + 1; d < table.rank; ++d) a.row *= table.dims[d];
  for (int d = 0; d < index.rank; ++d) a.count *= index.dims[d];
  int s = 4;
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(table.data) | reinterpret_cast<std::uint64_t>(args.out[0].data);
  while (s > 0 && (!k.functions[s] || address % (std::uint64_t{1} << s) != 0)) --s;
  if (!k.functions[s]) return Status::failed;
  a.row >>= s;
  return launch(queue_of(args), k.functions[s], {static_cast<unsigned>(ceil_div(a.outer * a.count * a.row, kGatherThreads))},
                kGatherThreads, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_gather_pieces() {
  return {.name = "gather_pieces",
          .ops = {"Gather"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"Gather f16[100,72] i64[40,11](-100,99)",
                    "Gather bf16[100,771] i64[40,11](-100,99)"}};
}

}  // namespace tenfold::backends
