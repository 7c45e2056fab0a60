// pack_tokens: a text encoder whose outputs are means under its attention mask computes only the tokens that the mask keeps: they are
// packed without padding, and attention gets the start of each sentence. Only if permitted (BuildConfig::pack_tokens).
//
// before: (x f32[2,3,8], m bool[2,3], w f32[8,8]!)
//   heads = i64[4]{2,3,2,4}
//   keys = i64[4]{2,1,1,3}
//   rows = i64[3]{2,3,8}
//   zero = f32[]{0.0}
//   low = f32[]{-100000.0}
//   p = MatMul(x, w)
//   h = Reshape(p, heads)
//   q = Transpose(h) perm=[0,2,1,3]
//   k = Reshape(m, keys)
//   a = Where(k, zero, low)
//   c = FusedAttention(q, q, q, a) scale=0.5
//   t = Transpose(c) perm=[0,2,1,3]
//   e = Reshape(t, rows)
//   y = MaskedMean(e, m)
// after: (x f32[2,3,8], m bool[2,3], w f32[8,8]!)
//   flat = i64[2]{6,8}
//   heads = i64[4]{1,0,2,4}
//   rows = i64[3]{1,0,8}
//   all = i64[1]{6}
//   o, p, c = TokenPositions(m)
//   xf = Reshape(x, flat) allowzero=1
//   xp = Gather(xf, p)
//   v = MatMul(xp, w)
//   h = Reshape(v, heads)
//   q = Transpose(h) perm=[0,2,1,3]
//   a = FusedAttention(q, q, q, _, o) longest=3 scale=0.5
//   t = Transpose(a) perm=[0,2,1,3]
//   e = Reshape(t, rows)
//   mf = Reshape(m, all) allowzero=1
//   mp = Gather(mf, p)
//   y = MaskedMean(e, mp, o)
//
// kept: (x f32[2,2,3,4], m bool[2,3])
//   keys = i64[4]{2,1,1,3}
//   zero = f32[]{0.0}
//   low = f32[]{-100000.0}
//   k = Reshape(m, keys)
//   a = Where(k, zero, low)
//   y = FusedAttention(x, x, x, a) scale=0.5
//
// kept: (x f32[2,3,8], m bool[2,3])
//   heads = i64[4]{2,3,2,4}
//   keys = i64[4]{2,1,1,3}
//   rows = i64[3]{2,3,8}
//   zero = f32[]{0.0}
//   low = f32[]{-4.0}
//   h = Reshape(x, heads)
//   q = Transpose(h) perm=[0,2,1,3]
//   k = Reshape(m, keys)
//   a = Where(k, zero, low)
//   c = FusedAttention(q, q, q, a) scale=0.5
//   t = Transpose(c) perm=[0,2,1,3]
//   e = Reshape(t, rows)
//   y = MaskedMean(e, m)
#include "passes/packing.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool run(ir::Graph& graph) { return pack_graph(graph, false); }

}  // namespace

Pass pass_pack_tokens() { return {.name = "pack_tokens", .run = run}; }

}  // namespace tenfold::passes
