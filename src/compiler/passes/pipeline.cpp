// The order of passes: the one list that is kept by hand. Dead nodes are swept after every pass by the manager.
#include "passes/pipeline.h"

#include <algorithm>

#include "backends/device_traits.h"
#include "base/check.h"
#include "passes/fold_constants.h"
#include "passes/newest_row.h"
#include "passes/precision/fold_gemms.h"
#include "passes/precision/narrow_floats.h"
#include "passes/precision/layer_types.h"
#include "passes/precision/numerics.h"

namespace tenfold::passes {
namespace {

using Names = std::vector<std::string_view>;

// Simplify and recognize, on float and Q/DQ graphs alike.
Names canonical() {
  return {
      "fold_constants",     // shape arithmetic and constant expressions first: everything after sees clean shapes
      "fold_branches",      // what conditions and counts decide that are known now ...
      "unroll_loops",
      "fold_constants",     // ... and what is known in it
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
Names fuse_all() {
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
Names fuse_for_launches() {
  return {"widen_at_reader", "lift_reshape", "merge_movement", "join_regions", "fuse_gemm_layer_norm", "fuse_quantized_norm",
          "fuse_quantized_attention", "lower_group_norm", "fold_constants", "fuse_long_reductions", "merge_common",
          "fuse_rotary_cache_update", "fuse_norm_matmul", "fuse_norm_block_scaled"};
}
// Norms that their readers compute, and GroupNorms as rows.
Names other_form_for_fp16() {
  return {"defer_norms", "norm_at_reader", "lower_group_norm_nhwc", "lower_group_norm", "fold_constants", "fuse_long_reductions",
          "merge_common"};
}
// Bodies that run block by block take reductions in.
Names fuse_for_blocks() { return {"join_bf16_regions", "fuse_reductions", "fuse_expand_depthwise", "merge_common"}; }

// The passes of a stage. Each is added together with its condition, so that the list also says which passes there are at all:
// then every pass is named, whatever its condition, and none is made.
class PassList {
 public:
  explicit PassList(bool fused_attention) : fused_attention_(fused_attention) {}
  explicit PassList(std::set<std::string>& names) : names_(&names) {}

  void add(bool condition, const Names& names) {
    for (const std::string_view name : names) {
      if (names_) names_->emplace(find_pass(name).name);
      else if (condition && name == "fold_constants") passes_.push_back(pass_fold_constants_but(stored_));
      else if (condition && (fused_attention_ || name != "fuse_attention")) passes_.push_back(find_pass(name));
    }
  }
  // A pass with arguments, which is no file of rules/.
  template <class Make>
  void add(bool condition, std::string_view name, const Make& make) {
    if (names_) {
      check(!is_rule(name), "two passes are called '", name, "'");
      names_->emplace(name);
    } else if (condition) {
      passes_.push_back(make());
      check(passes_.back().name == name, "the pass '", name, "' calls itself '", passes_.back().name, "'");
    }
  }
  std::vector<Pass> take() { return std::move(passes_); }
  void leave_stored(std::optional<DType> type) { stored_ = type; }   // of weights, in what is added from now on

 private:
  static bool is_rule(std::string_view name) {
    static const std::vector<Pass> rules = all_passes();
    return std::any_of(rules.begin(), rules.end(), [&](const Pass& rule) { return rule.name == name; });
  }

  std::vector<Pass> passes_;
  std::set<std::string>* names_ = nullptr;
  bool fused_attention_ = true;
  std::optional<DType> stored_;
};

struct Request {
  const backends::DeviceInfo& info;
  const BuildConfig& config;
  const PrecisionFacts& facts;
  backends::DeviceTraits device = backends::traits_of(info);
  bool host = device.host_arithmetic, launches = device.launches, tensor = device.tensor_core_gemm;
  bool own_kernels = (config.tactic_sources & static_cast<std::uint32_t>(TacticSource::native)) != 0;
  // Tensor cores multiply f32 only where its sums may be rounded.
  bool narrow_weights = device.narrow_weights && own_kernels && (host || config.fp16 || config.bf16 || config.tf32);
};

// The type that the precision stage narrows every product to which it can, if no layer is to have another one.
std::optional<DType> narrowed_to(const Request& r) {
  const BuildConfig& config = r.config;
  if (config.calibration || config.budget || gives_layer_types(config) || config.fp16 || !config.bf16) return {};
  return r.device.half_values || r.device.bf16_gemm ? std::optional(DType::bf16) : std::nullopt;
}

void rewrite(PassList& list, const Request& r) {
  const BuildConfig& config = r.config;
  list.add(r.host || r.launches, {"remove_identity"});   // which would keep 16 bits between wide nodes
  list.add(r.host && r.device.bf16_gemm, {"widen_f16"});   // no kernels are theirs
  list.add(r.host && !r.device.bf16_gemm, {"widen_fp16"});
  list.add(r.launches, {"widen_for_rules"});
  list.add(!r.launches && r.host && r.own_kernels, {"fuse_quantize_rows"});  // before its pieces move
  list.add(true, canonical());
  list.add(!r.launches && r.host && r.own_kernels, {"fuse_int8_cache"});
  list.add(config.pack_tokens != PackTokens::no, {"fuse_masked_mean"});   // where packed tokens end
  list.add(config.pack_tokens == PackTokens::where_equal, {"pack_tokens"});
  list.add(config.pack_tokens == PackTokens::with_zeros, {"pack_tokens_with_zeros"});
  list.add(config.pack_tokens != PackTokens::no, {"merge_movement", "merge_common"});
  list.add(r.launches, canonical_for_launches());
  list.add(r.host && !r.launches, {"lower_large_patches", "split_large_windows", "lift_slice", "merge_movement"});
  list.add(gives_layer_types(config), "give_layer_types",   // sources are those of whole steps now
           [&] { return pass_give_layer_types(config.layer_types); });
  list.add(!config.newest_row.empty(), "split_newest_row", [&] { return pass_split_newest_row(config.newest_row); });
}

// Q/DQ graphs. Where 8 bits are not allowed, or are not what the model has, these leave floats.
void quantized(PassList& list, const Request& r) {
  const BuildConfig& config = r.config;
  const bool int8 = config.int8, rows = r.facts.rows, pairs = r.device.byte_pairs;
  const bool float8 = r.device.float8_gemm && config.fp8;
  list.add(rows && r.tensor && float8, {"quantize_layers_to_float8"});
  list.add(rows && r.tensor, {"quantize_rows_for_gpu"});   // what has no ranges
  list.add(rows && !r.tensor && pairs, {"quantize_rows_for_pairs"});
  list.add(rows && !r.tensor && !pairs, {"quantize_rows"});
  list.add(int8 && !r.tensor && !r.device.signed_bytes, {"unsign_qdq"});   // while quantization stands beside its inverse
  list.add(int8, {"move_qdq"});                                            // dequantized values reach the products
  list.add(int8 && r.tensor, {"fold_qdq_for_gpu"});                        // products of 8-bit operands
  list.add(int8 && !r.tensor, {"fold_qdq"});
  list.add(int8 && config.tf32 && config.tf32_matmul && r.host && !pairs, {"fold_recurrent_int8"});
  list.add(float8, {"fold_float8", "fuse_float8_attention"});
  list.add(int8, {"remove_qdq"});                  // products of activations stay float ...
  list.add(int8 || r.tensor, {"fuse_attention"});  // ... and only now look like attention
  list.add(r.narrow_weights, {"fuse_block_scaled"});  // weights alone that are narrow
  list.add(!r.launches && r.host && r.own_kernels, {"fuse_block_scaled_fp4"});
  list.add(r.tensor, {"lower_qdq_for_gpu"});       // the rest, for regions and epilogues to absorb
  list.add(!r.tensor, {"lower_qdq"});
}

// f16 goes before bf16 where both are allowed: three more bits of fraction, and what overflows it stays wide. What is between 8-bit
// products on a CPU is finished in f32 with them.
void sixteen_bits(PassList& list, const Request& r) {
  const BuildConfig& config = r.config;
  const PrecisionFacts& facts = r.facts;
  const bool halves = r.device.half_values;
  const auto narrow = [&](bool condition, DType type, auto which) {
    list.add(condition, "narrow_floats",
             [&] { return pass_narrow_floats(type, type == DType::f16 ? facts.wide : std::set<std::string>{}, which); });
  };
  list.add(halves && !facts.types.empty(), "give_own_types", [&] { return pass_give_own_types(facts.types); });
  const bool given = halves && (gives_layer_types(config) || !facts.types.empty());
  narrow(given, DType::f16, has_no_type), narrow(given, DType::bf16, has_no_type);
  narrow(halves && config.fp16, DType::f16, has_type);
  narrow(halves && config.bf16 && !config.fp16, DType::bf16, has_type);
  narrow(!(halves && (config.fp16 || config.bf16)) && r.device.bf16_gemm && config.bf16 && !facts.quantized, DType::bf16,
         is_f32_on_hosts);
}

void precision(PassList& list, const Request& r) {
  const BuildConfig& config = r.config;
  list.add(!r.facts.ranges.empty(), "place_qdq", [&]() -> Pass {
    return {.name = "place_qdq", .run = [ranges = r.facts.ranges, placing = placing_for(r.info, config)](ir::Graph& graph) {
              return quant::place_qdq(graph, ranges, placing);
            }};
  });
  list.add(r.facts.rows && placing_for(r.info, config).float8, {"quantize_rows_to_float8"});
  quantized(list, r);
  sixteen_bits(list, r);
  list.add(gives_layer_types(config), "round_outputs", [&] { return pass_round_outputs(config.layer_types); });
  list.add(true, "permit_rounding",   // types are settled: what is left in f32 may round its operands
           [&] { return pass_permit_rounding(config, r.device); });
}

void fuse(PassList& list, const Request& r) {
  list.add(r.launches, {"lower_conv_transpose", "pad_channels"});
  list.add(r.launches && r.own_kernels, {"read_wide_images", "fuse_conv_max_pool", "fuse_group_norm_nhwc"});   // no library computes them
  list.add(!r.launches && r.host && r.own_kernels, {"fuse_group_norm_nhwc_on_hosts"});
  list.add(true, fuse_all());
  list.add(r.launches, fuse_for_launches());
  list.add(r.device.blocks, fuse_for_blocks());
  list.add(r.device.blocks && r.config.threads != 1, {"fuse_recurrent_stack"});   // for workers side by side
}

void other_form(PassList& list, const Request& r) {
  list.add(r.device.half_values && (r.config.fp16 || r.config.bf16 || !r.facts.types.empty()), other_form_for_fp16());
}

}  // namespace

Pipeline pipeline_for(const backends::DeviceInfo& info, const BuildConfig& config, const PrecisionFacts& facts) {
  const Request request{info, config, facts};
  PassList list(config.fast_exp || !request.host);   // fused attention on the host has an exponential of its own
  Pipeline p;
  list.leave_stored(narrowed_to(request));
  rewrite(list, request), p.rewrite = list.take();
  list.leave_stored({});
  precision(list, request), p.precision = list.take();
  fuse(list, request), p.fuse = list.take();
  other_form(list, request), p.other_form = list.take();
  return p;
}

std::set<std::string> pass_names() {
  const backends::DeviceInfo device;
  const BuildConfig config;
  const PrecisionFacts facts;
  const Request request{device, config, facts};
  std::set<std::string> names;
  PassList list(names);
  for (const auto stage : {&rewrite, &precision, &fuse, &other_form}) stage(list, request);
  return names;
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

}  // namespace tenfold::passes
