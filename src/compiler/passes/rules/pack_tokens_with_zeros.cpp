// pack_tokens_with_zeros: as pack_tokens, also if outputs have a row for each token: the rows of masked tokens become zeros, which
// changes them. Only if permitted (BuildConfig::pack_tokens).
//
// before: (x f32[2,3,8], m bool[2,3])
//   heads = i64[4]{2,3,2,4}
//   keys = i64[4]{2,1,1,3}
//   rows = i64[3]{2,3,8}
//   one = i64[3]{2,3,1}
//   zero = f32[]{0.0}
//   low = f32[]{-100000.0}
//   h = Reshape(x, heads)
//   q = Transpose(h) perm=[0,2,1,3]
//   k = Reshape(m, keys)
//   a = Where(k, zero, low)
//   c = FusedAttention(q, q, q, a) scale=0.5
//   t = Transpose(c) perm=[0,2,1,3]
//   e = Reshape(t, rows)
//   w = Reshape(m, one)
//   y = Where(w, e, zero)
// after: (x f32[2,3,8], m bool[2,3])
//   one = i64[3]{2,3,1}
//   flat = i64[2]{6,8}
//   all = i64[1]{6}
//   heads = i64[4]{1,0,2,4}
//   rows = i64[3]{1,0,8}
//   ones = i64[3]{1,0,1}
//   under = i64[2]{-1,8}
//   zero = f32[]{0.0}
//   zero_2 = f32[]{0.0}
//   k = Reshape(m, one) allowzero=1
//   mf = Reshape(m, all) allowzero=1
//   o, p, c, l = TokenPositions(m)
//   mp = Gather(mf, p)
//   w = Reshape(mp, ones)
//   xf = Reshape(x, flat) allowzero=1
//   xp = Gather(xf, p)
//   h = Reshape(xp, heads)
//   q = Transpose(h) perm=[0,2,1,3]
//   a = FusedAttention(q, q, q, _, o) longest=3 scale=0.5
//   t = Transpose(a) perm=[0,2,1,3]
//   e = Reshape(t, rows)
//   v = Where(w, e, zero)
//   f = Reshape(v, under)
//   g = Gather(f, l)
//   y = Where(k, g, zero_2)
#include "passes/packing.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool run(ir::Graph& graph) { return pack_graph(graph, true); }

}  // namespace

Pass pass_pack_tokens_with_zeros() { return {.name = "pack_tokens_with_zeros", .run = run}; }

}  // namespace tenfold::passes
