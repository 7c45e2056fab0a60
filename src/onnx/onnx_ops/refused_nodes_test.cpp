// Nodes of ONNX that are refused, by what is wrong with them.
#include "onnx_ops/import_node_for_tests.h"

namespace tenfold::onnx_ops {
namespace {

// What would give wrong numbers, overflow or not end is refused by what is wrong with it, before it is computed.
TEST(RefusedNodes, MakeNoSense) {
  const struct { const char *domain, *op; int opset; const char *problem, *part, *refusal; } cases[] = {
      {"", "DFT", 17, "i32[1,4,1]", "floats of 16 bits", "sound"},
      {"", "DFT", 17, "f32[1,4,1] string[]{\"4\"}", "an integer expected", "sound"},
      {"", "DFT", 17, "f32[1,6000,2]", "too large", "supported"},
      {"", "DFT", 20, "f32[1,4,1] _ i64[]{-1}", "no axis to transform", "need"},
      {"", "STFT", 17, "i32[1,8,1] i64[]{2} _ i64[]{4}", "floats of 16 bits", "sound"},
      {"", "STFT", 17, "f32[1,8,1] i64[]{-2} _ i64[]{4}", "frame_step is -2", "need"},
      {"", "AffineGrid", 20, "f8e4m3fn[1,2,3] i64[4]{1,1,2,3}", "floats of 16 bits", "sound"},
      {"", "AffineGrid", 20, "f32[2,2,3] i64[4]{1,1,2,3}", "expected [1,2,3]", "need"},
      {"com.microsoft", "CDist", 1, "f32[1,2] f32[1,2] metric=\"cosine\"", "metric is 'cosine'", "sound"},
      {"com.microsoft", "CausalConvWithState", 1, "f32[1,2,4] f32[2,1,3] dilation=2", "dilation is 2", "supported"},
      {"com.microsoft", "GroupQueryAttention", 1, "f32[1,1,16] _ _ _ _ i32[1] i32[] num_heads=3 kv_num_heads=2", "a multiple of", "need"},
      {"com.microsoft", "GroupQueryAttention", 1, "f32[1,1,17] _ _ _ _ i32[1] i32[] num_heads=2 kv_num_heads=1", "do not divide", "need"},
      {"com.microsoft", "RotaryEmbedding", 1, "f32[1,2,8] i64[1] f32[4,2] f32[4,2] scale=2.0", "scale is 2", "supported"},
      {"com.microsoft", "GatherBlockQuantized", 1, "u8[2,8] i64[1] f32[2,1] bits=3", "bits is 3", "sound"},
      {"com.microsoft", "MatMulNBits", 1, "f32[1,16] u8[1,1,8] f32[1] K=16 N=1 block_size=9223372036854775807", "a power of two", "sound"},
      {"com.microsoft", "MatMulNBits", 1, "f32[1,16] u8[1,1,8] f32[1] K=16 N=1 block_size=16 weight_prepacked=1", "weight_prepacked",
       "supported"},
      {"com.microsoft", "Attention", 1, "f32[1,1,4] f32[4,12] f32[12] num_heads=2 qkv_hidden_sizes=[4611686018427387904,"
                                        "4611686018427387904,12]", "do not divide 12 columns", "need"},
      {"com.microsoft", "Attention", 1, "f32[1,1,4] f32[4,12] f32[12] num_heads=2 qkv_hidden_sizes=[4,4,2]", "leave 2 of 12", "need"},
      {"com.microsoft", "MultiHeadAttention", 1, "f32[1,1,4] f32[1,1,4] f32[1,1,4] _ _ _ f32[1,2,8,2] f32[1,2,8,2] i32[1] num_heads=2",
       "operand 8", "supported"},
      {"", "NegativeLogLikelihoodLoss", 13, "f32[2,3] i64[2] _ reduction=\"median\"", "reduction is 'median'", "sound"},
      {"", "NegativeLogLikelihoodLoss", 13, "f32[2,3]", "input 1 is missing", "sound"},
      {"", "CausalConvWithState", 27, "f32[1,2,4] f32[2,1]", "3 expected of both", "need"},
      {"", "CausalConvWithState", 27, "f32[1,2,4] f32[2,1,3] activation=\"relu\"", "none, silu or swish", "sound"},
      {"", "BitCast", 26, "f32[2]", "attribute 'to' is missing", "sound"},
      {"", "BitCast", 26, "f32[2] to=7", "those of i64 have 64", "sound"},
      {"", "MelWeightMatrix", 17, "i64[]{3} i64[]{8}", "input 3 is missing", "sound"},
      {"", "SequenceConstruct", 11, "_ f32[2]", "input 0 is missing", "sound"},
      {"com.microsoft", "QLinearAdd", 1, "u8[2] f32[] u8[] u8[2]", "input 4 (b_scale) is missing", "sound"},
      {"com.microsoft", "QuickGelu", 1, "f32[2] f32[2]", "QuickGelu has 2 inputs, at most 1 expected", "sound"},
      {"com.microsoft", "QuickGelu", 1, "f32[2] beta=1.0", "it has no attribute 'beta'", "sound"},
      {"com.microsoft", "QuickGelu", 1, "f32[2] alpha=1", "attribute 'alpha' is an int, a float was expected", "sound"},
      {"", "Slice", 1, "f32[2] ends=[1]", "attribute 'starts' is missing", "sound"},
      {"", "Reshape", 1, "f32[2] shape=1.5", "'shape'", "sound"},
      {"", "GroupNormalization", 18, "f32[1,4,2] f32[2] f32[2] num_groups=3", "4 channels do not divide into 3 groups", "need"},
      {"", "GroupNormalization", 18, "f32[1,4,2] f32[2] f32[2] num_groups=0", "num_groups is 0", "sound"},
      {"", "SplitToSequence", 11, "f32[2] axis=1", "axis 1 of a tensor of rank 1", "need"},
      {"", "AffineGrid", 20, "f32[1,2,3] i64[4]{1,1,2,2097152}", "less than 2^20 are supported", "supported"},
      {"", "STFT", 17, "f32[1,8,3] i64[]{2} _ i64[]{4}", "1 or 2 expected", "need"},
      {"", "STFT", 17, "f32[1,8,1] i64[]{2} f32[3] i64[]{4}", "a window of 3 for frames of 4", "need"},
      {"com.microsoft", "FusedConv", 1, "f32[1,1,3] f32[1,1,3] activation=\"LeakyRelu\"", "0 activation_params, 1 expected", "sound"},
      {"com.microsoft", "FusedConv", 1, "f32[1,1,3] f32[1,1,3] activation=\"Mish\"", "'Mish' of a fused convolution", "supported"},
      {"com.microsoft", "NhwcFusedConv", 1, "f32[3,1] f32[1,1,3]", "rank 2, 3 or more expected", "need"},
      {"com.microsoft", "BiasSoftmax", 1, "f32[2,3] f32[2,3]", "is_inner_broadcast", "sound"},
      {"com.microsoft", "BiasSoftmax", 1, "f32[2,3,4] f32[1,3,4] axis=2 is_inner_broadcast=1", "along the inner dims", "need"},
      {"com.microsoft", "MatMulBnb4", 1, "f32[1,16] u8[8] f32[1] K=16 N=1 block_size=16 quant_type=2", "0 (FP4) or 1 (NF4)", "sound"},
      {"com.microsoft", "MatMulBnb4", 1, "f32[1,16] u8[8] f32[1] K=16 N=1 block_size=0 quant_type=1", "a power of two", "sound"},
      {"com.microsoft", "MatMulBnb4", 1, "f32[1,16] u8[7] f32[1] K=16 N=1 block_size=16 quant_type=1", "7 bytes, 8 expected", "need"},
      {"com.microsoft", "ConvTransposeWithDynamicPads", 1, "f32[1,1,3] f32[1,1,3] i64[3]", "[2] expected", "need"},
      {"com.microsoft", "RelativePositionBias", 1, "f32[4,2] i64[1] i64[1] max_distance=4611686018427387904", "at most 2^20", "supported"},
      {"com.microsoft", "RelativePositionBias", 1, "f32[4,2] i64[1] i64[1] max_distance=1", "more than 2 expected", "need"},
      {"com.microsoft", "GatedRelativePositionBias", 1, "f32[2,4] f32[4] f32[1,2,2,2] f32[2,4] f32[4] f32[1,2,1,1] num_heads=2",
       "or 2 with the places", "need"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(cat(c.op, " ", c.problem));
    try {
      results_of({c.domain, c.op, c.opset, {0}, c.problem, "", 0});
      ADD_FAILURE() << "is not refused";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(c.part), std::string::npos) << e.what();
      EXPECT_EQ(ops::refusal_of(e), c.refusal) << e.what();
    }
  }
}

// A plan that names such an operator is refused, not run.
TEST(RefusedNodes, OnnxOpsAreNoOperatorsOfGraphs) {
  Graph graph(Registry::builtin());
  EXPECT_THROW(graph.add("com.microsoft.BiasGelu", {}), Error);
  EXPECT_THROW(graph.add("BiasGelu", {}), Error);
}

}  // namespace
}  // namespace tenfold::onnx_ops
