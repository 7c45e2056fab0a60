// Which axes a reduction or global pool reduces.
#pragma once

#include <cstdint>

#include "backends/tactic.h"
#include "ir/op_def.h"

namespace tenfold::backends {

// A bit for each axis.
inline std::uint32_t reduced_axes(const Problem& p) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  const std::uint32_t all = (1u << rank) - 1;
  if (p.op->name.starts_with("Global")) return all & ~3u;
  const ir::Ints axes = p.attributes->ints("axes", {});
  if (axes.empty()) return p.attributes->integer("noop_with_empty_axes", 0) != 0 ? 0 : all;
  std::uint32_t mask = 0;
  for (const std::int64_t a : axes) mask |= 1u << ((a + rank) % rank);
  return mask;
}

}  // namespace tenfold::backends
