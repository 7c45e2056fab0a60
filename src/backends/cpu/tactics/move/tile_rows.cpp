// tile_rows: Tile as a copy whose target has an axis more for each repeated one, along which the source does not move.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

Verdict supports(const Problem& p) {
  if (const Verdict v = can_move(p); !v) return v;
  int axes = 0;
  for (std::size_t a = 0; a < p.out[0].dims.size(); ++a) {
    const ir::Dim own = p.in[0].dims[a];
    axes += own == ir::Dim(1) || own == p.out[0].dims[a] ? 1 : 2;
  }
  return Verdict::only_if(axes <= kMaxRank, "too many axes are repeated");
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) { return open_move(p); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Bound &in = args.in[0], &out = args.out[0];
  int64_t dims[kMaxRank], to[kMaxRank], from[kMaxRank];
  int axes = 0;
  const auto add = [&](int64_t extent, int64_t to_stride, int64_t from_stride) {
    dims[axes] = extent, to[axes] = to_stride, from[axes++] = from_stride;
  };
  for (int a = 0; a < out.rank; ++a) {
    const int64_t own = in.dims[a];
    if (out.dims[a] == 0) return Status::ok;
    if (own == 0 || out.dims[a] % own != 0) return Status::invalid_shape;
    if (own == 1) {
      add(out.dims[a], out.strides[a], 0);
    } else {
      if (out.dims[a] != own) add(out.dims[a] / own, own * out.strides[a], 0);
      add(own, out.strides[a], in.strides[a]);
    }
  }
  static_cast<const MoveKernel*>(self)->copy.run(*args.parallel, dims, axes, out.data, to, in.data, from);
  return Status::ok;
}

}  // namespace

Tactic cpu_tile_rows() {
  return {.name = "tile_rows",
          .ops = {"Tile"},
          .supports = supports,
          .configs = one_config,
          .formats = same_layouts,
          .open = open,
          .run = run,
          .cases = {"Tile f32[1,1,9,20] i64[4]{1,16,1,1}", "Tile f32[2,3,5,7] i64[4]{2,3,1,2}", "Tile u8[70,40] i64[2]{3,1}"}};
}

}  // namespace tenfold::backends
