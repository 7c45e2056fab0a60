// Attention: softmax(scale * q * k' + bias) * v with heads packed or apart, grouped keys, a cache, masks and a soft cap.
//
// Operands: Q, K, V, mask, past key, past value, number of keys that are not padding (by batch).
// Results: Y, present key, present value, and the scores at the stage that qk_matmul_output_mode names.
#include "ops/attention/attention_common.h"

namespace tenfold::ir {
namespace {

enum Operand { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidKeys };
enum ScoreStage { kRaw, kCapped, kBiased, kNormalized };

// One operand as [batch, heads, rows, size], however it is packed.
struct Packed {
  Dim batch, heads, rows, size;
};
Packed unpack(const InferCall& call, int operand, const char* heads_attribute) {
  const Dims& dims = call.dims(operand);
  if (dims.size() == 4) return {dims[0], dims[1], dims[2], dims[3]};
  call.check_shape(dims.size() == 3, "operand ", operand, " has rank ", dims.size(), ", expected 3 or 4");
  const std::int64_t heads = call.attributes().integer(heads_attribute, 0);
  call.check_shape(heads > 0, heads_attribute, " is needed for operands of rank 3");
  call.check_shape(!dims[2].is_constant() || dims[2].constant() % heads == 0, dims[2].text(), " values do not divide into ", heads,
                   " heads");
  return {dims[0], heads, dims[1], floor_div(dims[2], heads)};
}

bool differ(Dim a, Dim b) { return a.is_constant() && b.is_constant() && a != b; }

// A mask's dims, counted from the last, are those of the scores or 1; the last may differ, for a mask may stop before the last key.
void infer_mask(InferCall& call, const Packed& q) {
  const Dims& mask = call.dims(kMask);
  const Dim scores[] = {q.rows, q.heads, q.batch};
  call.check_shape(mask.size() <= 4, "the mask has rank ", mask.size(), ", expected 4 at most");
  for (std::size_t back = 1; back < mask.size(); ++back) {
    const Dim extent = mask[mask.size() - 1 - back], requested = scores[back - 1];
    call.check_shape(!differ(extent, requested) || extent == Dim(1), "the mask [", text(mask), "] has ", extent.text(),
                     " where the scores have ", requested.text());
  }
}

void infer(InferCall& call) {
  const Packed q = unpack(call, kQuery, "q_num_heads"), k = unpack(call, kKey, "kv_num_heads"), v = unpack(call, kValue, "kv_num_heads");
  call.check_shape(!differ(q.batch, k.batch) && !differ(q.batch, v.batch) && !differ(k.heads, v.heads) && !differ(k.rows, v.rows) &&
                !differ(q.size, k.size),
            "queries [", text(call.dims(kQuery)), "], keys [", text(call.dims(kKey)), "] and values [", text(call.dims(kValue)),
            "] do not fit");
  if (q.heads.is_constant() && k.heads.is_constant()) {
    call.check_shape(k.heads.constant() > 0 && q.heads.constant() % k.heads.constant() == 0, q.heads.text(),
                     " query heads do not divide among ", k.heads.text(), " key heads");
  }
  if (call.has(kMask)) infer_mask(call, q);
  if (call.has(kValidKeys)) {
    call.check_shape(call.rank(kValidKeys) == 1 && !differ(call.dims(kValidKeys)[0], q.batch), "the numbers of valid keys are [",
              text(call.dims(kValidKeys)), "], expected one for each of ", q.batch.text(), " examples");
  }
  call.validate(call.has(kPastKey) == call.has(kPastValue), "a past key needs a past value");
  const std::int64_t stage = call.attributes().integer("qk_matmul_output_mode");
  call.validate(stage >= kRaw && stage <= kNormalized, "qk_matmul_output_mode is ", stage);
  Dim keys = k.rows;
  if (call.has(kPastKey)) {
    call.check_shape(call.rank(kPastKey) == 4 && call.rank(kPastValue) == 4, "past key and value have ranks ", call.rank(kPastKey), " and ",
              call.rank(kPastValue), ", expected 4");
    const Dims &past = call.dims(kPastKey), &past_value = call.dims(kPastValue);
    call.check_shape(!differ(past[0], q.batch) && !differ(past[1], k.heads) && !differ(past[3], k.size) &&
                         !differ(past[2], past_value[2]) && !differ(past_value[0], q.batch) && !differ(past_value[1], v.heads) &&
                         !differ(past_value[3], v.size),
                     "the past key [", text(past), "] or value [", text(past_value), "] does not fit");
    keys = keys + past[2];
  }
  const bool apart = call.rank(kQuery) == 4;
  call.out(0, call.dtype(kQuery), apart ? Dims{q.batch, q.heads, q.rows, v.size} : Dims{q.batch, q.rows, q.heads * v.size});
  call.out(1, call.dtype(kKey), {q.batch, k.heads, keys, k.size});
  call.out(2, call.dtype(kValue), {q.batch, v.heads, keys, v.size});
  call.out(3, call.dtype(kQuery), {q.batch, q.heads, q.rows, keys});
}

// The same on concrete shapes, with the distances between batches, heads and rows.
struct Layout {
  std::int64_t batch, heads, rows, size, batch_step, head_step, row_step;
  Layout(const Shape& shape, std::int64_t packed_heads) {
    const bool apart = shape.size() == 4;
    batch = shape[0];
    heads = apart ? shape[1] : packed_heads;
    rows = apart ? shape[2] : shape[1];
    size = apart ? shape[3] : shape[2] / heads;
    head_step = apart ? rows * size : size;
    row_step = apart ? size : heads * size;
    batch_step = heads * rows * size;
  }
};

// Past rows, then the new ones, for every head: what the operator calls `present`.
template <class T>
std::vector<T> present(const Call& call, int operand, int past, std::int64_t heads, std::int64_t& rows) {
  const auto& tensor = call.in[static_cast<std::size_t>(operand)];
  const Layout from(tensor.shape, heads);
  const ops::RealIn<T> fresh(tensor), old(call.has(past) ? call.in[static_cast<std::size_t>(past)] : TensorRef{});
  const std::int64_t before = call.has(past) ? call.in[static_cast<std::size_t>(past)].shape[2] : 0;
  if (call.has(past)) {   // what `infer` could not know of symbolic dims
    const Shape &found = call.in[static_cast<std::size_t>(past)].shape, requested{from.batch, from.heads, before, from.size};
    call.check_shape(found == requested, "the past ", text(found), " is not ", text(requested));
  }
  rows = before + from.rows;
  std::vector<T> all;
  for (std::int64_t b = 0; b < from.batch; ++b) {
    for (std::int64_t h = 0; h < from.heads; ++h) {
      const std::int64_t head = (b * from.heads + h) * before * from.size;
      all.insert(all.end(), old.data() + head, old.data() + head + before * from.size);
      for (std::int64_t r = 0; r < from.rows; ++r) {
        const T* row = fresh.data() + b * from.batch_step + h * from.head_step + r * from.row_step;
        all.insert(all.end(), row, row + from.size);
      }
    }
  }
  return all;
}

// What is added to a score: 0, minus infinity, or the mask's value.
class Bias {
 public:
  Bias(const Call& call, const Layout& q)
      : call_(call),
        at_(call.has(kMask) ? call.in[kMask].shape : Shape{}),
        causal_(call.attributes().integer("is_causal") != 0),
        queries_(q.rows),
        past_(call.has(kPastKey) ? call.in[kPastKey].shape[2] : 0) {
    if (call.has(kMask)) mask_ = ops::converted<double>(call.in[kMask]);
    if (call.has(kMask) && !call.in[kMask].shape.empty()) width_ = call.in[kMask].shape.back();
    if (call.has(kValidKeys)) valid_ = ops::converted<std::int64_t>(call.in[kValidKeys]);
    check(q);
  }
  double operator()(std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t t) const {
    const bool padded = !valid_.empty();
    const std::int64_t valid = padded ? valid_[static_cast<std::size_t>(b)] : 0;
    if (causal_ && t > s + (padded ? valid - queries_ : past_)) return -INFINITY;
    if (padded && t >= valid) return -INFINITY;
    if (mask_.empty()) return 0;
    if (t >= width_) return -INFINITY;  // a mask may stop before the last key
    const double value = mask_[static_cast<std::size_t>(at_(b, h, s, t))];
    if (call_.in[kMask].dtype == DType::boolean) return value != 0 ? 0.0 : -INFINITY;
    return value;
  }

 private:
  // What `infer` could not know of symbolic dims.
  void check(const Layout& q) const {
    call_.check_shape(valid_.empty() || static_cast<std::int64_t>(valid_.size()) == q.batch, valid_.size(), " numbers of valid keys for ",
                      q.batch, " examples");
    if (!call_.has(kMask)) return;
    const Shape& mask = call_.in[kMask].shape;
    const std::int64_t scores[] = {q.rows, q.heads, q.batch};
    for (std::size_t back = 1; back < mask.size() && back < 4; ++back) {
      const std::int64_t extent = mask[mask.size() - 1 - back];
      call_.check_shape(extent == 1 || extent == scores[back - 1], "the mask ", text(mask), " has ", extent, " where the scores have ",
                 scores[back - 1]);
    }
  }

  const Call& call_;
  ops::MaskIndex at_;
  bool causal_;
  std::int64_t queries_, past_, width_ = 1;
  std::vector<double> mask_;
  std::vector<std::int64_t> valid_;
};

template <class T>
void store_all(const Call& call, std::size_t output, const std::vector<T>& values) {
  if (output >= call.out.size()) return;
  const ops::RealOut<T> out(call.out[output]);
  std::copy(values.begin(), values.end(), out.data());
}

template <class T>
void run(Call& call) {
  const Attributes& attributes = call.attributes();
  const std::int64_t kv_heads = attributes.integer("kv_num_heads", 0);
  const Layout q(call.in[kQuery].shape, attributes.integer("q_num_heads", 0)), k(call.in[kKey].shape, kv_heads),
      v(call.in[kValue].shape, kv_heads);
  Layout y = q;
  y.size = v.size;
  y.head_step = call.in[kQuery].shape.size() == 4 ? q.rows * v.size : v.size;
  y.row_step = call.in[kQuery].shape.size() == 4 ? v.size : q.heads * v.size;
  std::int64_t keys = 0;
  const std::vector<T> key = present<T>(call, kKey, kPastKey, kv_heads, keys), value = present<T>(call, kValue, kPastValue, kv_heads, keys);
  const ops::RealIn<T> query(call.in[kQuery]);
  const ops::RealOut<T> result(call.out[0]);
  std::vector<T> scores(call.out.size() > 3 ? static_cast<std::size_t>(q.batch * q.heads * q.rows * keys) : 0);
  const double scale = attributes.number("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(q.size)))),
               cap = attributes.number("softcap");
  const std::int64_t stage = attributes.integer("qk_matmul_output_mode");
  const Bias bias(call, q);
  const std::int64_t batches = q.rows > 0 ? q.batch : 0;   // what is empty has no address
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t h = 0; h < q.heads; ++h) {
      const std::int64_t group = b * k.heads + h / (q.heads / k.heads);
      const ops::Head<T> head{query.data() + b * q.batch_step + h * q.head_step,
                              key.data() + group * keys * k.size,
                              value.data() + group * keys * v.size,
                              result.data() + b * q.heads * q.rows * v.size + h * y.head_step,
                              q.row_step,
                              k.size,
                              v.size,
                              y.row_step,
                              q.rows,
                              keys,
                              q.size,
                              v.size};
      const auto note = [&](ScoreStage at, std::int64_t s, std::int64_t t, double score) {
        if (stage == at && !scores.empty())
          scores[static_cast<std::size_t>(((b * q.heads + h) * q.rows + s) * keys + t)] = static_cast<T>(score);
      };
      ops::attend(
          head, scale,
          [&](std::int64_t s, std::int64_t t, double score) {
            note(kRaw, s, t, score);
            if (cap > 0) score = std::tanh(score / cap) * cap;
            note(kCapped, s, t, score);
            score += bias(b, h, s, t);
            note(kBiased, s, t, score);
            return score;
          },
          [&](std::int64_t s, std::int64_t t, double p) { note(kNormalized, s, t, p); });
    }
  }
  store_all(call, 1, key);
  store_all(call, 2, value);
  store_all(call, 3, scores);
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_attention() {
  return {.name = "Attention",
          .min_inputs = 3,
          .max_inputs = 7,
          .max_outputs = 4,
          .types = "Q, Q, V, dense, Q, V, int -> Q, Q, V, Q; Q: float; V: float",
          .attributes = {{"is_causal", 0}, {"qk_matmul_output_mode", 0}, {"softcap", 0.0f}},
          .optional_attributes = "kv_num_heads: int, q_num_heads: int, scale: float, softmax_precision: int",
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,3,4,8] f32[2,3,6,8] f32[2,3,6,8]", "f32[2,4,24] f32[2,6,8] f32[2,6,8] q_num_heads=3 kv_num_heads=1",
                    "f32[1,2,4,8] f32[1,2,4,8] f32[1,2,4,8] _ f32[1,2,3,8] f32[1,2,3,8] is_causal=1 outputs=3",
                    "f32[1,2,4,8] f32[1,2,4,8] f32[1,2,4,8] f32[4,4] softcap=2.0 qk_matmul_output_mode=2 outputs=4"},
          .on_host = "import makes FusedAttention of it, but where a cache or the scores are asked for"};
}

}  // namespace tenfold::ir
