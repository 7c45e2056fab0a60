// FusedAttention (internal): softmax(scale * q * k' + mask) * v over [batch, heads, rows, head size]; made by a fusion pass.
//
// Operands: q [B, H, S, D], k [B, G, T, D], v [B, G, T, V] with G dividing H (heads that share keys follow each other), mask that
// broadcasts to [B, H, S, T] and is added, offsets. causal=1 hides from query s every key past s. softcap=c makes c * tanh(x / c) of every
// scaled score, before the mask. A row from which minus infinity hides every key gives zeros, or NaN with nan_rows=1, as a softmax that
// is written out gives.
//
// Offsets i32 [sentences + 1] make rows packed sentences: B is 1, S is T, and rows [offsets[i], offsets[i + 1]) see each other only. Rows
// behind the last offset give zeros. `longest`: what one sentence holds at most, 0 if unknown.
#include <algorithm>
#include <cmath>

#include "ops/attention/attention_common.h"
#include "ops/fused/attention_dims.h"

namespace tenfold::ir {
namespace {

void need_equal(const InferCall& call, Dim a, Dim b, const char* what) {
  call.check_shape(!a.is_constant() || !b.is_constant() || a == b, what, ": ", a.text(), " and ", b.text());
}

}  // namespace

Dims attention_dims(InferCall& call) {
  for (int i = 0; i < 3; ++i)
    call.check_shape(call.rank(i) == 4, "operand ", i, " has rank ", call.rank(i), ", expected batch, heads, rows, head size");
  const Dims &q = call.dims(0), &k = call.dims(1), &v = call.dims(2);
  need_equal(call, q[0], k[0], "batches of queries and keys differ");
  need_equal(call, q[0], v[0], "batches of queries and values differ");
  need_equal(call, k[1], v[1], "heads of keys and values differ");
  call.check_shape(
      q[1] == k[1] || !q[1].is_constant() || !k[1].is_constant() || (k[1].constant() > 0 && q[1].constant() % k[1].constant() == 0),
      q[1].text(), " query heads do not divide among ", k[1].text(), " heads of keys");
  need_equal(call, q[3], k[3], "head sizes of queries and keys differ");
  need_equal(call, k[2], v[2], "keys and values differ in number");
  if (call.has(4)) {
    call.validate(!call.has(3), "packed sentences and a mask at once");
    call.check_shape(call.rank(4) == 1 && q[0] == Dim(1), "offsets of rank ", call.rank(4), " and a batch of ", q[0].text(),
              ", expected rank 1 and a batch of 1");
    need_equal(call, q[2], k[2], "queries and keys of packed sentences differ in number");
  }
  const Dims scores{q[0], q[1], q[2], k[2]};
  if (call.has(3)) {
    const Dims all = broadcast(call.dims(3), scores);
    call.check_shape(call.rank(3) <= 4 && (!is_constant(all) || !is_constant(scores) || all == scores), "a mask of [", text(call.dims(3)),
              "] does not broadcast to [", text(scores), "]");
  }
  return {q[0], q[1], q[2], v[3]};
}

namespace {

void infer(InferCall& call) { call.out(0, call.dtype(0), attention_dims(call)); }

double hidden_row(const Call& call) { return call.attributes().integer("nan_rows", 0) != 0 ? NAN : 0; }
double soft_cap(const Call& call) { return call.attributes().number("softcap", 0); }
double capped(double score, double cap) { return cap > 0 ? std::tanh(score / cap) * cap : score; }

void check_offsets(const Call& call) {
  const TensorRef& offsets = call.in[4];
  const auto* at = offsets.as<std::int32_t>();
  const std::int64_t rows = call.in[0].shape[2];
  bool good = offsets.size() > 0 && call.in[1].shape[2] == rows && at[0] == 0 && at[offsets.size() - 1] <= rows;
  for (std::int64_t i = 0; i + 1 < offsets.size(); ++i) good = good && at[i] <= at[i + 1];
  call.check_index(good, "offsets must rise from 0 to ", rows, " at most");
}

// Every sentence as heads of its own.
template <class T>
void run_packed(Call& call) {
  check_offsets(call);
  const Shape &q = call.in[0].shape, &k = call.in[1].shape, &v = call.in[2].shape;
  const bool causal = call.attributes().integer("causal") != 0;
  const double cap = soft_cap(call);
  const ops::RealIn<T> queries(call.in[0]), keys(call.in[1]), values(call.in[2]);
  const ops::RealOut<T> y(call.out[0]);
  const auto* offsets = call.in[4].as<std::int32_t>();
  std::fill_n(y.data(), call.out[0].size(), T(0));
  for (std::int64_t sentence = 0; sentence + 1 < call.in[4].size(); ++sentence)
    for (std::int64_t h = 0; h < q[1]; ++h) {
      const std::int64_t first = offsets[sentence], rows = offsets[sentence + 1] - first, shared = h / (q[1] / k[1]);
      const ops::Head<T> head{queries.data() + (h * q[2] + first) * q[3],
                              keys.data() + (shared * k[2] + first) * k[3],
                              values.data() + (shared * v[2] + first) * v[3],
                              y.data() + (h * q[2] + first) * v[3],
                              q[3],
                              k[3],
                              v[3],
                              v[3],
                              rows,
                              rows,
                              q[3],
                              v[3],
                              hidden_row(call)};
      ops::attend(head, call.attributes().number("scale"),
                  [&](std::int64_t s, std::int64_t t, double score) { return causal && t > s ? -INFINITY + 0.0 : capped(score, cap); });
    }
}

template <class T>
void run(Call& call) {
  const Shape &q = call.in[0].shape, &k = call.in[1].shape, &v = call.in[2].shape;
  call.check_shape(q[1] == k[1] || (k[1] > 0 && q[1] % k[1] == 0), q[1], " query heads do not divide among ", k[1], " heads of keys");
  if (call.has(4)) return run_packed<T>(call);
  const bool masked = call.has(3), causal = call.attributes().integer("causal") != 0;
  const ops::RealIn<T> queries(call.in[0]), keys(call.in[1]), values(call.in[2]), mask(masked ? call.in[3] : TensorRef{});
  const ops::RealOut<T> y(call.out[0]);
  const ops::MaskIndex at(masked ? call.in[3].shape : Shape{});
  const double scale = call.attributes().number("scale"), cap = soft_cap(call);
  for (std::int64_t h = 0; h < q[0] * q[1]; ++h) {
    const std::int64_t shared = h / q[1] * k[1] + h % q[1] / (q[1] / k[1]);   // the head of keys and values
    const ops::Head<T> head{queries.data() + h * q[2] * q[3],
                            keys.data() + shared * k[2] * k[3],
                            values.data() + shared * v[2] * v[3],
                            y.data() + h * q[2] * v[3],
                            q[3],
                            k[3],
                            v[3],
                            v[3],
                            q[2],
                            k[2],
                            q[3],
                            v[3],
                            hidden_row(call)};
    ops::attend(head, scale, [&](std::int64_t s, std::int64_t t, double score) {
      if (causal && t > s) return -INFINITY + 0.0;
      score = capped(score, cap);
      return masked ? score + static_cast<double>(mask[at(h / q[1], h % q[1], s, t)]) : score;
    });
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_fused_attention() {
  return {.name = "FusedAttention",
          .min_inputs = 3,
          .max_inputs = 5,
          .types = "T, T, T, dense, i32 -> T; T: float",
          .attributes = {{"causal", 0}, {"scale", 1.0f}},
          .optional_attributes = "longest: int, nan_rows: int, softcap: float",
          .infer = infer,
          .reference = reference,
          .traits = {.permission = {.rounding = true}, .offsets = {.operand = 4, .dim = 2}, .narrows = true, .strided = true},
          .cases = {"f32[2,3,7,16] f32[2,3,7,16] f32[2,3,7,16] scale=0.25",
                    "f32[1,12,33,32] f32[1,12,33,32] f32[1,12,33,32] f32[1,1,1,33](-9,0) scale=0.17677669",
                    "f32[2,2,5,8] f32[2,2,9,8] f32[2,2,9,11] f32[2,1,5,9](-3,3) scale=0.5",
                    "f32[1,2,6,4] f32[1,2,6,4] f32[1,2,6,4] causal=1 scale=0.5",
                    "f32[1,2,3,8] f32[1,2,20,8] f32[1,2,20,8] f32[1,1,1,20](-3.4028234e38,-3.4028234e38) scale=0.5",  // masked whole
                    "f32[1,2,3,8] f32[1,2,20,8] f32[1,2,20,8] f32[1,1,3,20](-3.4028234e38,-3.4028234e38) scale=0.5",
                    "f32[1,2,3,8] f32[1,2,4,8] f32[1,2,4,8] f32[1,1,3,4]{0,0,0,0,-inf,-inf,-inf,-inf,0,-inf,1,0} scale=0.5",
                    "f32[1,2,3,8] f32[1,2,4,8] f32[1,2,4,8] f32[1,1,3,4]{0,0,0,0,-inf,-inf,-inf,-inf,0,-inf,1,0} nan_rows=1 scale=0.5",
                    "f32[2,2,3,8] f32[2,2,4,8] f32[2,2,4,8] f32[2,1,1,4]{-inf,-inf,-inf,-inf,0,-inf,1,0} scale=0.5",
                    "f32[2,2,3,8] f32[2,2,4,8] f32[2,2,4,8] f32[2,1,1,4]{-inf,-inf,-inf,-inf,0,-inf,1,0} nan_rows=1 scale=0.5",
                    "f32[2,6,5,8] f32[2,2,9,8] f32[2,2,9,8] f32[2,6,5,9](-3,3) scale=0.5",
                    "f32[1,2,5,8](-4,4) f32[1,2,9,8](-4,4) f32[1,2,9,8] f32[1,1,5,9](-3,3) scale=0.5 softcap=2.0",
                    "f32[1,2,9,16](-4,4) f32[1,2,9,16](-4,4) f32[1,2,9,16] _ i32[3]{0,4,9} causal=1 scale=0.25 softcap=2.0",
                    "f16[1,2,8,16] f16[1,2,8,16] f16[1,2,8,16] scale=0.25",
                    "f32[1,2,11,8] f32[1,2,11,8] f32[1,2,11,8] _ i32[5]{0,3,3,8,10} scale=0.5",
                    "f32[1,4,150,32] f32[1,2,150,32] f32[1,2,150,32] _ i32[3]{0,130,150} longest=130 scale=0.17677669",
                    "f32[1,2,9,16] f32[1,2,9,16] f32[1,2,9,16] _ i32[3]{0,4,9} causal=1 scale=0.25",
                    "f16[1,2,40,32] f16[1,2,40,32] f16[1,2,40,32] _ i32[4]{0,17,20,38} longest=20 scale=0.25",
                    "bf16[1,3,5,24] bf16[1,3,7,24] bf16[1,3,7,17] bf16[1,1,5,7](-3,3) scale=0.25",
                    "bf16[1,2,41,32] bf16[1,2,41,32] bf16[1,2,41,32] _ i32[4]{0,17,20,38} longest=20 scale=0.25"}};
}

}  // namespace tenfold::ir
