// GroupNormNhwc (ops/fused/group_norm_nhwc.cpp) for kernels that take images with their channels innermost, on any device.
#pragma once

#include <utility>
#include <vector>

#include "backends/tactic.h"
#include "ir/op_def.h"

namespace tenfold::backends {

// What rules make GroupNormNhwc of: channels come in vectors of 16 bytes of f16, and a GPU's shared memory holds sums of so many.
inline constexpr std::int64_t kNormChannelVector = 8, kMaxNormChannels = 2048;

// Three whole operands, a result of the image's dims, and channels that divide into groups. Plans come from files: all is asked.
inline Verdict group_norm_nhwc_operands(const Problem& p) {
  const ir::Dims& dims = p.in[0].dims;
  const std::int64_t groups = p.attributes->integer("num_groups", 0);
  if (p.in.size() != 3 || p.out.size() != 1 || dims.size() < 3 || p.out[0].dims != dims)
    return Verdict::no("the operands are not those of a norm");
  if (!dims[1].is_constant() || groups < 1 || dims[1].constant() % groups != 0) return Verdict::no("channels do not divide into groups");
  for (std::size_t i = 1; i < 3; ++i)
    if (p.in[i].missing || p.in[i].dtype != p.in[0].dtype || p.in[i].dims != ir::Dims{dims[1]} || !p.in[i].dense)
      return Verdict::no("scale or bias are not one number for each channel, of the image's type");
  for (const OperandDesc* o : {&p.in[0], &p.out[0]})
    if (!o->dense || (o->layout != kChannelsLast && !same_as_plain(kChannelsLast, o->dims)))
      return Verdict::no("channels do not lie innermost, or with gaps");
  const bool alone = !p.body || (p.body->inputs.size() == 1 && p.body->inputs[0] == p.in[0].dtype && p.body->reduced_rank == 0);
  return Verdict::only_if(alone, "what follows has operands of its own");
}

inline std::vector<Formats> group_norm_nhwc_formats(const Problem& p) {
  std::vector<Layout> in(p.in.size(), kPlain);
  in[0] = kChannelsLast;
  return {{std::move(in), {kChannelsLast}}};
}

}  // namespace tenfold::backends
