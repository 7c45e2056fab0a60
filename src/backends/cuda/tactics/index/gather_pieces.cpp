// gather_pieces: Gather along any axis, in pieces of up to 16 bytes. An index outside the table gives zeros and is noted.
#include <algorithm>

#include "backends/cuda/codegen/index/gather.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

int64_t axis_of(const Problem& p) {
  const auto rank = static_cast<int64_t>(p.in[0].dims.size());
  return (p.attributes->integer("axis", 0) + rank) % rank;
}
// Elements behind one index.
ir::Dim row_of(const Problem& p) { return ir::product(std::span(p.in[0].dims).subspan(static_cast<std::size_t>(axis_of(p)) + 1)); }

Verdict supports(const Problem& p) {
  if (p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  if (p.in[0].dtype == DType::string) return Verdict::no("elements are strings");
  if (bits(p.in[0].dtype) < 8) {
    const ir::Dim row = row_of(p);
    if (!row.is_constant() || row.constant() * bits(p.in[0].dtype) % 8 != 0) return Verdict::no("rows end within a byte");
  }
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))) return Verdict::no("an operand is not dense and plain");
  return Verdict::ok();
}

struct Kernel {
  std::shared_ptr<const LoadedModule> modules[5];  // for pieces of 1, 2, 4, 8 and 16 bytes
  Function functions[5] = {};
  int64_t axis = 0, element_bits = 8;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->axis = axis_of(p), k->element_bits = bits(p.in[0].dtype);
  const int64_t least = std::max<int64_t>(k->element_bits / 8, 1);  // bytes of a piece
  const ir::Dim row = k->element_bits < 8 ? ir::Dim(row_of(p).constant() * k->element_bits / 8) : row_of(p) * ir::Dim(least);
  for (int s = 0; s < 5; ++s) {  // the largest piece that rows divide into; and the element, for addresses that are not aligned
    const bool fits = row.divisible_by(int64_t{1} << s), larger = s < 4 && row.divisible_by(int64_t{2} << s);
    if (!fits || (larger && (int64_t{1} << s) != least)) continue;
    k->modules[s] = device_of(*p.device).load(generate_gather(p.in[1].dtype, 1 << s), opening);
    k->functions[s] = k->modules[s]->function("gather");
  }
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &table = args.in[0], &index = args.in[1];
  GatherArguments a{table.data, index.data, args.out[0].data, 1, table.dims[k.axis], 1, k.element_bits, queue_of(args).bad_index};
  for (int64_t d = 0; d < k.axis; ++d) a.outer *= table.dims[d];
  for (int64_t d = k.axis + 1; d < table.rank; ++d) a.row *= table.dims[d];
  for (int d = 0; d < index.rank; ++d) a.count *= index.dims[d];
  a.row /= 8;
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
          .cases = {"Gather f16[100,72] i64[40,11](-100,99)", "Gather bf16[100,771] i64[40,11](-100,99)",
                    "Gather u4[100,70] i64[40,3](-100,99)", "Gather i4[5,30,6] i32[4](-30,29) axis=1"}};
}

}  // namespace tenfold::backends
