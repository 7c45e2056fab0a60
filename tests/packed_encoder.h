// A small text encoder with every way to write a mask, for tests of packed tokens.
#pragma once

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::packed {

inline ir::Graph parse(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = [](DType d, const Shape& s, std::uint64_t n) {
                           return ops::random_tensor(d, s, n, -0.5, 0.5);
                         }});
}

// One layer with embeddings of words and places, attention of two heads under a mask `a` that `mask` makes of m, and a residual.
inline std::string encoder(const std::string& mask, const std::string& end) {
  return R"(symbol batch [1 .. 6] input_dim
symbol sequence [1 .. 9] input_dim
(ids i64[batch,sequence], m i64[batch,sequence], words f32[20,8]!, places f32[9,8]!, g f32[8]!, b f32[8]!, w f32[8,8]!, u f32[8,8]!)
    heads = i64[4]{0,0,2,4}
    rows = i64[3]{0,0,8}
    one = i64[]{1}
    zero_i = i64[]{0}
    last = i64[1]{-1}
    keys = i64[2]{1,2}
    to4b = i64[4]{-1,1,1,1}
    to4s = i64[4]{1,1,1,-1}
    to4q = i64[4]{1,1,-1,1}
    lead = i64[4]{0,1,1,-1}
    zero = f32[]{0.0}
    ones = f32[]{1.0}
    low = f32[]{-inf}
    big = f32[]{-10000.0}
    least = f32[]{0.000001}
    shape = Shape(ids)
    length = Gather(shape, one)
    places_used = Range(zero_i, length, one)
    pe = Gather(places, places_used)
    we = Gather(words, ids)
    s0 = Add(we, pe)
    x = LayerNormalization(s0, g, b) axis=-1
    p = MatMul(x, w)
    ph = Reshape(p, heads)
    q = Transpose(ph) perm=[0,2,1,3]
    qt = Transpose(ph) perm=[0,2,3,1]
    sc = MatMul(q, qt)
)" + mask + R"(
    pr = Softmax(sm) axis=-1
    c = MatMul(pr, q)
    ct = Transpose(c) perm=[0,2,1,3]
    cr = Reshape(ct, rows)
    o = MatMul(cr, u)
    h = Add(o, x)
)" + end;
}
// True or false of the mask decides.
inline const std::string kWhere = R"(    mb = Cast(m) to="bool"
    mk = Unsqueeze(mb, keys)
    a = Where(mk, zero, low)
    sm = Add(sc, a))";
// The mask as a number.
inline const std::string kTimes = R"(    mf = Cast(m) to="f32"
    mk = Unsqueeze(mf, keys)
    mn = Sub(ones, mk)
    a = Mul(mn, big)
    sm = Add(sc, a))";
// By place in the flattened mask, as torch exports its mask functions.
inline const std::string kGathered = R"(    mb = Cast(m) to="bool"
    flat = Flatten(mb) axis=2
    count = Gather(shape, zero_i)
    rb = Range(zero_i, count, one)
    b4 = Reshape(rb, to4b)
    s4 = Reshape(places_used, to4s)
    bs = Mul(b4, length)
    at = Add(s4, bs)
    picked = Gather(flat, at)
    mk = Reshape(picked, lead)
    a = Where(mk, zero, low)
    sm = Add(sc, a))";
// Keys behind the query are hidden too.
inline const std::string kCausal = R"(    mb = Cast(m) to="bool"
    mk = Unsqueeze(mb, keys)
    ks = Reshape(places_used, to4s)
    qs = Reshape(places_used, to4q)
    before = LessOrEqual(ks, qs)
    both = And(mk, before)
    a = Where(both, zero, low)
    sm = Add(sc, a))";
inline const std::string kMean = R"(    mu = Unsqueeze(m, last)
    mw = Cast(mu) to="f32"
    hw = Mul(h, mw)
    sum = ReduceSum(hw) axes=[1] keepdims=0
    n = ReduceSum(mw) axes=[1] keepdims=0
    nc = Max(n, least)
    y = Div(sum, nc)
    return y
)";

inline BuildConfig config(PackTokens pack) {
  BuildConfig c;
  c.threads = 1, c.optimization_level = 0, c.pack_tokens = pack;
  c.profiles = {{{"ids", {{1, 1}, {4, 6}, {6, 9}}}, {"m", {{1, 1}, {4, 6}, {6, 9}}}}};
  return c;
}
inline bool packs(const std::string& text, PackTokens how = PackTokens::where_equal) {
  BuildConfig c = config(how);
  bool found = false;
  c.dump = [&](std::string_view, std::string_view graph) { found = found || graph.find("TokenPositions") != std::string_view::npos; };
  builder::build_graph(parse(text), c);
  return found;
}
inline Tensor numbers(const Shape& shape, const std::vector<std::int64_t>& values) {
  Tensor t(DType::i64, shape);
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return t;
}
inline Tensor words(const Shape& shape) { return ops::random_tensor(DType::i64, shape, 5, 0, 19); }

// Masks to the right, to the left, with holes, all ones, with an empty sentence, and all empty: sizes go up and down in one context.
inline std::vector<Tensor> masks() {
  return {numbers({2, 3}, {1, 1, 0, 1, 0, 0}),
          numbers({3, 4}, {0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1}),
          numbers({2, 9}, std::vector<std::int64_t>(18, 1)),
          numbers({3, 2}, {1, 0, 0, 0, 1, 1}),
          numbers({2, 2}, {0, 0, 0, 0}),
          numbers({1, 5}, {1, 1, 1, 0, 0})};
}

}  // namespace tenfold::packed
