// Which axes a Resize resizes, as far as a tactic can see.
#pragma once

#include <cstddef>

#include "backends/tactic.h"

namespace tenfold::backends {

// Of the spatial axes alone, by sizes or by f32 scales with a scale for each: what pass lower_resize makes of constant scales.
// Batch and channels must have been seen to keep their extents: sizes say all with that, scales do not.
inline Verdict resizes_spatial_axes(const Problem& p) {
  if (p.in.size() > 3 && !p.in[3].missing) return Verdict::ok();
  if (p.in.size() < 3 || p.in[2].missing || p.in[2].dtype != DType::f32 || !p.in[2].dense)
    return Verdict::no("neither sizes nor f32 scales");
  const ir::Ints axes = p.attributes->ints("axes", {});
  bool spatial = axes.size() + 2 == p.in[0].dims.size();
  if (p.in[2].dims != ir::Dims{static_cast<std::int64_t>(axes.size())}) return Verdict::no("not a scale for each axis");
  for (std::size_t i = 0; i < axes.size(); ++i) spatial = spatial && axes[i] == static_cast<std::int64_t>(i) + 2;
  return Verdict::only_if(spatial, "scales of other axes than the spatial ones");
}

}  // namespace tenfold::backends
