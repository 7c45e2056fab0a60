// Extents of heads, of tables and of caches.
#include "backends/cuda/tactics/attention/rotary_common.h"

#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends::cuda {

Verdict can_turn(const Problem& p, const OperandDesc& x, const RotaryTables& tables, std::int64_t num_heads) {
  for (const OperandDesc* o : {&x, &tables.cosines, &tables.sines})
    if (!is_short_float(o->dtype)) return Verdict::no(cat("an operand is ", name(o->dtype)));
  if (tables.positions && !is_index(tables.positions->dtype)) return Verdict::no("positions are not i32 or i64");
  const ir::Dims& dims = x.dims;
  if (!dims.back().is_constant() || (dims.size() == 3 && (num_heads < 1 || dims[2].constant() % num_heads != 0)))
    return Verdict::no("heads of no constant size");
  const std::int64_t size = dims.size() == 4 ? dims[3].constant() : dims[2].constant() / num_heads;
  const std::int64_t rotary_dim = p.attributes->integer("rotary_embedding_dim"), turned = rotary_dim == 0 ? size : rotary_dim;
  if (turned < 2 || turned > size || turned % 2 != 0) return Verdict::no("an odd number of elements is turned, or too many");
  const ir::Dim batch = dims[0], rows = dims[dims.size() - 2], half(turned / 2);
  if (tables.positions && tables.positions->dims != ir::Dims{batch, rows}) return Verdict::no("positions are not one for each row");
  const ir::Dims requested = tables.positions ? ir::Dims{tables.cosines.dims[0], half} : ir::Dims{batch, rows, half};
  return Verdict::only_if(tables.cosines.dims == requested && tables.sines.dims == requested,
                          "the tables' extents are not those that rows and heads ask for");
}

void define_rotation(KernelText& text, const Problem& p) {
  text.define("TURNED", p.attributes->integer("rotary_embedding_dim"));
  text.define("INTERLEAVED", p.attributes->integer("interleaved") != 0 ? 1 : 0);
}

Verdict can_scatter(const Problem& p, const OperandDesc& cache, const OperandDesc& rows, std::size_t axis) {
  for (std::size_t d = 0; d < cache.dims.size(); ++d)
    if (d != axis && cache.dims[d] != rows.dims[d]) return Verdict::no("extents beside the axis may differ");
  return Verdict::only_if(p.bounds(rows.dims[axis] - cache.dims[axis]).upper <= 0, "the update may be longer than the cache");
}

}  // namespace tenfold::backends::cuda
