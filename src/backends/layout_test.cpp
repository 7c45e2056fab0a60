// Tests of layouts, feature names and the text of problems.
#include "backends/layout.h"

#include <gtest/gtest.h>

#include "backends/cpu/cpu_info.h"
#include "backends/tactic.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using ir::Dim;
using ir::Dims;

TEST(Layout, StridesOfEveryOrder) {
  const Dims dims{2, 20, 5, 7};
  EXPECT_EQ(strides(kPlain, dims), (Dims{700, 35, 7, 1}));
  EXPECT_EQ(strides(kChannelsLast, dims), (Dims{700, 1, 140, 20}));
  EXPECT_EQ(strides({Layout::channels_blocked, 8}, dims), (Dims{3 * 8 * 35, 8 * 35, 56, 8}));
  EXPECT_EQ(storage_elements({Layout::channels_blocked, 8}, dims), Dim(2 * 24 * 35));
  EXPECT_EQ(storage_elements(kChannelsLast, dims), Dim(1400));
  const Dim batch = Dim::symbol("batch");
  EXPECT_EQ(strides(kChannelsLast, {batch, 3, batch}), (Dims{3 * batch, 1, 3}));
  EXPECT_EQ(strides(kChannelsLast, {4, 6}), (Dims{6, 1}));
  EXPECT_TRUE(strides(kPlain, {}).empty());
}

TEST(Layout, KnowsWhenItSaysNothingNew) {
  EXPECT_TRUE(same_as_plain(kChannelsLast, {2, 8}));
  EXPECT_TRUE(same_as_plain(kChannelsLast, {2, 8, 1, 1}));
  EXPECT_TRUE(same_as_plain(kChannelsLast, {2, 1, 5, 5}));
  EXPECT_FALSE(same_as_plain(kChannelsLast, {2, 8, 1, 2}));
  EXPECT_TRUE(same_as_plain({Layout::channels_blocked, 8}, {2, 16, 1, 1}));
  EXPECT_FALSE(same_as_plain({Layout::channels_blocked, 8}, {2, 12, 1, 1}));
  EXPECT_FALSE(same_as_plain(kChannelsLast, {2, Dim::symbol("c"), 3}));
}

TEST(Layout, NamesReadBack) {
  for (Layout layout : {kPlain, kChannelsLast, Layout{Layout::channels_blocked, 8}, Layout{Layout::channels_blocked, 16}})
    EXPECT_EQ(parse_layout(text(layout)), layout);
  EXPECT_THROW(parse_layout("c9"), Error);
}

TEST(Features, NamesReadBack) {
  EXPECT_EQ(parse_features(feature_text(kAvx2 | kVnni | kAmxBf16)), kAvx2 | kVnni | kAmxBf16);
  EXPECT_EQ(parse_features(" avx2,avx512 "), kAvx2 | kAvx512);
  EXPECT_EQ(parse_features(""), 0u);
  EXPECT_THROW(parse_features("avx3"), Error);
  EXPECT_GE(cpu::this_cpu().l1_bytes, 16 << 10);
  EXPECT_FALSE(cpu::this_cpu().name.empty());
}

TEST(Problem, LineNamesAllThatMatters) {
  ir::OpDef op{.name = "MatMul"};
  ir::Attributes attributes{{"alpha", std::int64_t{2}}};
  ir::BodyBuilder b({DType::f32, DType::f32});
  const ir::Body body = b.finish({b.binary(ir::Prim::add, 0, 1)});
  const ir::SymbolBounds box{{"batch", {1, 8}}};
  const Dim batch = Dim::symbol("batch");
  Problem p{.op = &op, .attributes = &attributes, .body = &body, .anchor_inputs = 2, .in = {}, .out = {}, .box = &box};
  p.in.push_back({.dims = {batch, 4, 8}, .layout = {}, .dense = false, .strides = {64, 16, 1}});
  p.in.push_back({.dims = {8, 16}, .layout = {}, .constant = true});
  p.in.push_back({.dims = {16}, .layout = {}, .constant = true});
  p.out.push_back({.dims = {batch, 4, 16}, .layout = kChannelsLast});
  EXPECT_EQ(p.line(),
            "MatMul f32[batch,4,8]/[64,16,1] f32[8,16]! alpha=2 with f32[16]! -> f32[batch,4,16]@cl "
            "body=(f32,f32) %2=add.f32(%0,%1) -> %2 for batch=1..8");
  EXPECT_EQ(p.bounds(batch + 1), (ir::Interval{2, 9}));
  p.numerics = {.round_to = ir::Rounding::tf32, .strassen = true};
  EXPECT_NE(p.line().find(" alpha=2 numerics={round_to=tf32,strassen=1} with f32[16]!"), std::string::npos) << p.line();
}

}  // namespace
}  // namespace tenfold::backends
