// The order of passes: the one list that is kept by hand. Dead nodes are swept after every pass by the manager.
#include "passes/pass.h"

namespace tenfold::passes {
namespace {
std::vector<Pass> named(const std::vector<std::string_view>& names) {
  std::vector<Pass> list;
  for (std::string_view name : names) list.push_back(find_pass(name));
  return list;
}
}  // namespace

// Simplify and recognise, on float and Q/DQ graphs alike.
std::vector<Pass> canonical() {
  return named({
      "fold_constants",     // shape arithmetic and constant expressions first: everything after sees clean shapes
      "remove_identity",    // no-ops that exporters leave
      "merge_common",       // the same mask or shape computed twice
      "fold_constants",     // what became constant by the two above
      "lower_gemm",         // one form of product ...
      "lower_einsum",       // ... for this one too
      "fold_batchnorm",     // into the weights before anything looks at them
      "lower_gather",       // one form of slice
      "lower_resize",       // tactics see which axes are resized
      "sink_expand",        // masks are computed once, not once for each element they hide
      "merge_movement",     // transposes and reshapes that undo each other
      "sink_reshape",       // products meet their residuals, attention shows its heads
      "merge_movement",     // what came together
      "sink_transpose",     // pairs that would undo each other, were there nothing between them
      "merge_movement",
      "fold_constants",     // transposed weights
      "merge_common",       // what now is computed in the same shape
      "fuse_softmax",       // before what follows would swallow its pieces, as
      "fuse_pooling",
      "fuse_norm",          // before regions would swallow its pieces
      "fuse_group_norm",
      "fuse_attention",     // needs the softmax and both products as they are
      "merge_common",       // masks that the line above made once per layer
  });
}

// Fuse eagerly; the tuner cuts again what does not pay.
std::vector<Pass> fuse() {
  return named({
      "fold_constants",     // what settling the precision left constant
      "fold_batchnorm",     // a quantised model's, whose parameters are constants only now
      "lower_channel_scale",  // convolutions that came without a neighbour to fold them into
      "remove_identity",
      "sink_reshape",       // past what the precision made of products and masks
      "merge_movement",
      "fuse_epilogue",      // anchors take what follows them first ...
      "merge_products",     // queries, keys and values, with the epilogues they have now
      "fold_constants",     // their weights side by side
      "fuse_regions",       // ... and regions what is left
      "fuse_epilogue",      // a single node that only now has one reader
      "merge_common",
  });
}

// With leave to leave out the tokens that a mask hides.
std::vector<Pass> pack_tokens(bool with_zeros) {
  return named({
      "fuse_masked_mean",   // where packed tokens end
      with_zeros ? "pack_tokens_with_zeros" : "pack_tokens",
      "merge_movement",
      "merge_common",
  });
}

// What a GPU wants besides: there each step costs microseconds, and an epilogue next to nothing.
std::vector<Pass> canonical_for_gpu() {
  return named({
      "lower_mean_variance",     // no kernel of their own ...
      "lower_dynamic_quantize",  // ... but kernels for all their parts
      "round_tokens",
      "lower_patches",       // a vision transformer's first product
      "regroup_heads",       // attention over tokens first reads views ...
      "merge_movement",
      "transpose_products",  // ... of products that are computed batch first
      "merge_movement",
      "fuse_masked_mean",
      "fuse_sum_norm",
  });
}
std::vector<Pass> settled_for_gpu(bool own_kernels) {
  if (!own_kernels) return named({"lower_conv_transpose"});
  return named({"lower_conv_transpose", "read_wide_images", "fuse_conv_max_pool"});   // what the last two make no library computes
}
std::vector<Pass> fuse_for_cpu() {
  return named({"join_bf16_regions", "fuse_reductions", "fuse_expand_depthwise", "merge_common"});
}
std::vector<Pass> fuse_for_gpu() {
  return named({"lift_reshape", "merge_movement", "join_regions", "fuse_product_norm", "fuse_quantised_norm", "fuse_quantised_attention",
                "lower_group_norm", "fold_constants", "fuse_long_reductions", "merge_common"});
}

std::vector<Pass> other_form_for_gpu() { return named({"defer_norms"}); }

}  // namespace tenfold::passes
