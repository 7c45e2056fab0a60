// The order of passes: the one list that is kept by hand. Dead nodes are swept after every pass by the manager.
#include "passes/pipeline.h"

#include <algorithm>

#include "backends/device_traits.h"
#include "passes/precision/fold_gemms.h"
#include "passes/precision/narrow_floats.h"
#include "passes/precision/layer_types.h"
#include "passes/precision/numerics.h"
#include "passes/precision/quantize_rows.h"

namespace tenfold::passes {
namespace {

using Names = std::vector<std::string_view>;

// Simplify and recognize, on float and Q/DQ graphs alike.
Names canonical() {
  return {
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
      "sink_slice",         // not before the above: what they look for reads all
      "merge_movement",
      "merge_common",       // masks that the line above made once per layer
  };
}

// Fuse eagerly; the tuner cuts again what does not pay.
Names fuse() {
  return {
      "fold_constants",     // what settling the precision left constant
      "fold_batchnorm",     // a quantized model's, whose parameters are constants only now
      "lower_channel_scale",  // convolutions that came without a neighbor to fold them into
      "remove_identity",
      "sink_reshape",       // past what the precision made of products and masks
      "merge_movement",
      "fuse_epilogue",      // anchors take what follows them first ...
      "merge_gemms",     // queries, keys and values, with the epilogues they have now
      "fold_constants",     // their weights side by side
      "fuse_regions",       // ... and regions what is left
      "fuse_epilogue",      // a single node that only now has one reader
      "merge_common",
  };
}

// Where it is allowed to leave out the tokens that a mask hides.
Names pack_tokens(PackTokens how) {
  if (how == PackTokens::no) return {};
  return {
      "fuse_masked_mean",   // where packed tokens end
      how == PackTokens::with_zeros ? "pack_tokens_with_zeros" : "pack_tokens",
      "merge_movement",
      "merge_common",
  };
}

// What a device wants besides on which each step is a launch of microseconds, and an epilogue costs next to nothing.
Names canonical_for_launches() {
  return {
      "lower_mean_variance",     // no kernel of their own ...
      "lower_dynamic_quantize",  // ... but kernels for all their parts
      "round_tokens",
      "lower_patches",       // a vision transformer's first product
      "regroup_heads",       // attention over tokens first reads views ...
      "merge_movement",
      "transpose_gemms",  // ... of products that are computed batch first ...
      "lift_slice",          // ... for queries, keys and values side by side
      "merge_movement",
      "fuse_masked_mean",
      "fuse_skip_layer_norm",
  };
}
Names final_for_launches(bool own_kernels) {
  if (!own_kernels) return {"lower_conv_transpose"};
  return {"lower_conv_transpose", "read_wide_images", "fuse_conv_max_pool", "fuse_group_norm_nhwc"};  // the last three no library computes
}
Names fuse_for_launches() {
  return {"widen_at_reader", "lift_reshape", "merge_movement", "join_regions", "fuse_gemm_layer_norm", "fuse_quantized_norm",
          "fuse_quantized_attention", "lower_group_norm", "fold_constants", "fuse_long_reductions", "merge_common"};
}
// Norms that their readers compute, and GroupNorms as rows.
Names other_form_for_fp16() {
  return {"defer_norms", "lower_group_norm_nhwc", "lower_group_norm", "fold_constants", "fuse_long_reductions", "merge_common"};
}
// Bodies that run block by block take reductions in.
Names fuse_for_blocks() { return {"join_bf16_regions", "fuse_reductions", "fuse_expand_depthwise", "merge_common"}; }

// Q/DQ graphs. Where 8 bits are not allowed, or are not what the model has, these leave floats.
Names quantized(const backends::DeviceTraits& device, const BuildConfig& config, const Found& found) {
  const bool tensor = device.tensor_core_gemm;
  Names list;
  if (found.rows && tensor && device.float8_gemm && config.fp8) list.push_back("quantize_rows_to_float8");
  if (found.rows)   // what has no ranges
    list.push_back(tensor ? "quantize_rows_for_gpu" : device.byte_pairs ? "quantize_rows_for_pairs" : "quantize_rows");
  if (config.int8 && !tensor && !device.signed_bytes) list.push_back("unsign_qdq");   // while quantization stands beside its inverse
  if (config.int8) list.push_back("move_qdq");                                        // dequantized values reach the products
  if (config.int8) list.push_back(tensor ? "fold_qdq_for_gpu" : "fold_qdq");          // products of 8-bit operands
  if (config.int8 && config.tf32 && config.tf32_matmul && device.host_arithmetic && !device.byte_pairs)
    list.push_back("fold_recurrent_int8");
  if (config.fp8 && device.float8_gemm) list.insert(list.end(), {"fold_float8", "fuse_float8_attention"});
  if (config.int8) list.push_back("remove_qdq");                                      // products of activations stay float ...
  if (config.int8 || tensor) list.push_back("fuse_attention");                        // ... and only now look like attention
  list.push_back(tensor ? "lower_qdq_for_gpu" : "lower_qdq");                         // the rest, for regions and epilogues to absorb
  return list;
}

// f16 goes before bf16 where both are allowed: three more bits of fraction, and what overflows it stays wide. What is between 8-bit
// products on a CPU is finished in f32 with them.
std::vector<Pass> sixteen_bits(const backends::DeviceTraits& device, const BuildConfig& config, const Found& found) {
  std::vector<Pass> passes;
  if (device.half_values && !found.types.empty()) passes.push_back(pass_give_own_types(found.types));
  if (device.half_values && (gives_layer_types(config) || !found.types.empty()))
    for (const DType type : {DType::f16, DType::bf16})
      passes.push_back(pass_narrow_floats(type, type == DType::f16 ? found.wide : std::set<std::string>{}, has_no_type));
  if (device.half_values && config.fp16) passes.push_back(pass_narrow_floats(DType::f16, found.wide, has_type));
  else if (device.half_values && config.bf16) passes.push_back(pass_narrow_floats(DType::bf16, {}, has_type));
  else if (device.bf16_gemm && config.bf16 && !found.quantized) passes.push_back(pass_narrow_floats(DType::bf16, {}, is_f32_on_hosts));
  return passes;
}

class Lists {
 public:
  explicit Lists(bool fused_attention) : fused_attention_(fused_attention) {}
  void add(std::vector<Pass>& to, const Names& names) const {
    for (const std::string_view name : names)
      if (fused_attention_ || name != "fuse_attention") to.push_back(find_pass(name));
  }

 private:
  bool fused_attention_;
};

}  // namespace

Pipeline pipeline_for(const backends::DeviceInfo& info, const BuildConfig& config, const Found& found) {
  const backends::DeviceTraits device = backends::traits_of(info);
  const Lists lists(config.fast_exp || !device.host_arithmetic);   // fused attention on the host has an exponential of its own
  const bool own_kernels = config.tactic_sources & static_cast<std::uint32_t>(TacticSource::native);
  Pipeline p;
  if (device.host_arithmetic || device.launches) lists.add(p.rewrite, {"remove_identity"});   // which would keep 16 bits between wide nodes
  if (device.host_arithmetic) lists.add(p.rewrite, {device.bf16_gemm ? "widen_f16" : "widen_fp16"});  // no kernels are theirs
  if (device.launches) lists.add(p.rewrite, {"widen_for_rules"});
  lists.add(p.rewrite, canonical());
  lists.add(p.rewrite, pack_tokens(config.pack_tokens));
  if (device.launches) lists.add(p.rewrite, canonical_for_launches());
  else if (device.host_arithmetic)
    lists.add(p.rewrite, {"lower_large_patches", "split_large_windows", "lift_slice", "merge_movement"});
  if (gives_layer_types(config)) p.rewrite.push_back(pass_give_layer_types(config.layer_types));   // sources are those of whole steps now

  if (!found.ranges.empty())
    p.precision.push_back({.name = "place_qdq", .run = [ranges = found.ranges, placing = placing_for(info, config)](ir::Graph& graph) {
                             return quant::place_qdq(graph, ranges, placing);
                           }});
  if (found.rows && placing_for(info, config).float8)
    p.precision.push_back({.name = "quantize_rows_to_float8", .run = [](ir::Graph& graph) {
                             return quantize_rows(graph, {.type = DType::f8e4m3fn});
                           }});
  lists.add(p.precision, quantized(device, config, found));
  for (Pass& pass : sixteen_bits(device, config, found)) p.precision.push_back(std::move(pass));
  if (gives_layer_types(config)) p.precision.push_back(pass_round_outputs(config.layer_types));
  p.precision.push_back(pass_permit_rounding(config, device));   // types are settled: what is left in f32 may round its operands

  if (device.launches) lists.add(p.fuse, final_for_launches(own_kernels));
  else if (own_kernels && device.host_arithmetic) lists.add(p.fuse, {"fuse_group_norm_nhwc_on_hosts"});
  lists.add(p.fuse, fuse());
  if (device.launches) lists.add(p.fuse, fuse_for_launches());
  if (device.blocks) lists.add(p.fuse, fuse_for_blocks());
  if (device.blocks && config.threads != 1) lists.add(p.fuse, {"fuse_recurrent_stack"});   // for workers side by side

  if (device.half_values && (config.fp16 || config.bf16 || !found.types.empty())) lists.add(p.other_form, other_form_for_fp16());
  return p;
}

std::vector<DType> calibrated_types(const backends::DeviceInfo& device, const BuildConfig& config) {
  if (!config.calibration) return {DType::i8};   // another build's ranges
  std::vector<DType> types = config.calibration->types;
  std::erase_if(types, [&, float8 = backends::traits_of(device).float8_gemm](DType type) {
    return type == DType::i8 ? !config.int8 : !config.fp8 || !float8;
  });
  return types;
}

quant::Placing placing_for(const backends::DeviceInfo& device, const BuildConfig& config) {
  const backends::DeviceTraits traits = backends::traits_of(device);
  const std::vector<DType> types = calibrated_types(device, config);
  using quant::Activations;
  quant::Placing placing{.activations = traits.host_arithmetic ? Activations::unsigned_bytes : Activations::unsigned_if_never_negative,
                         .float8 = !types.empty() && types.front() == DType::f8e4m3fn,
                         .shortcuts = traits.tensor_core_gemm};   // whose kernels take bytes to the sum as they take the block's own
  placing.takes = [tensor = traits.tensor_core_gemm, any = !types.empty(), int8 = config.int8](const ir::Node& product) {
    const std::optional<DType> given = product.numerics.type;   // its layer's
    return (given ? bits(*given) <= 8 && (any || int8) : any) && (!tensor || fits_tensor_cores(product));
  };
  placing.other = [float8 = placing.float8, can = traits.float8_gemm && config.fp8](const ir::Node& product) {
    const std::optional<DType> given = product.numerics.type;
    return can && given && bits(*given) <= 8 && (*given == DType::f8e4m3fn) != float8;
  };
  return placing;
}

std::vector<Pass> Pipeline::in_order() const {
  std::vector<Pass> all = rewrite;
  for (const std::vector<Pass>* list : {&precision, &fuse}) all.insert(all.end(), list->begin(), list->end());
  return all;
}

std::set<std::string> pass_names() {
  std::set<std::string> names{"give_layer_types", "give_own_types", "narrow_floats",   "permit_rounding",
                              "place_qdq",        "round_outputs",  "split_newest_row"};
  for (const Pass& pass : all_passes()) names.insert(pass.name);
  return names;
}

}  // namespace tenfold::passes
