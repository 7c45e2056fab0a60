// What rules for norms of channels share.
#pragma once

#include <initializer_list>

#include "ir/graph.h"

namespace tenfold::passes {

// Beside convolutions, GroupNormalization and InstanceNormalization of these types become ChannelNorm (ops/fused/channel_norm.cpp), where
// its kernels can: 8 channels and multiples, up to 2048.
bool fuse_channel_norms(ir::Graph& graph, std::initializer_list<DType> types);

}  // namespace tenfold::passes
