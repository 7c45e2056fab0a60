// LinearAttention: a state of each head, keys x values, that every token decays and adds to, and that every query reads.
//
// Operands: Q [batch, tokens, heads * keys], K and V of their own number of heads, the state before [batch, heads, keys, values], decay in
// logarithms (by head, or by head and key), rate of the update (by head, or one). Results: Y, the state after.
#include <cmath>

#include "base/types/element.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

enum Operand : std::uint8_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

struct Rule {
  bool decays, corrects;   // by exp(decay); adds what the state does not already give for the key
};

Rule rule_named(const std::string& name) {
  return {.decays = name == "gated" || name == "gated_delta", .corrects = name == "delta" || name == "gated_delta"};
}

void check_rule(InferCall& call) {
  const std::string& name = call.attributes().string("update_rule");
  const Rule rule = rule_named(name);
  call.validate(rule.decays || rule.corrects || name == "linear", "update_rule is '", name,
                "', linear, gated, delta or gated_delta expected");
  call.validate(!rule.decays || call.has(kDecay), "update_rule '", name, "' needs a decay, operand 4");
  call.validate(!rule.corrects || call.has(kBeta), "update_rule '", name, "' needs an update rate, operand 5");
}

Dim part(InferCall& call, int operand, std::int64_t heads) {
  const Dim packed = call.dims(operand)[2];
  call.check_shape(!packed.is_constant() || packed.constant() % heads == 0, "operand ", operand, " has ", packed.text(),
                   " columns, which ", heads, " heads do not share evenly");
  return floor_div(packed, heads);
}

void infer(InferCall& call) {
  const std::int64_t heads = call.attributes().integer("q_num_heads"), states = call.attributes().integer("kv_num_heads");
  call.validate(heads > 0 && states > 0 && heads % states == 0, "q_num_heads is ", heads, " and kv_num_heads ", states,
                ", a positive multiple of the latter expected");
  check_rule(call);
  for (int i = 0; i < call.inputs(); ++i)
    if (call.has(i)) call.check_shape(call.rank(i) == (i == kPast ? 4 : 3), "operand ", i, " has rank ", call.rank(i), ", ",
                                      i == kPast ? 4 : 3, " expected");
  const Dim keys = part(call, kKey, states), values = part(call, kValue, states), query = part(call, kQuery, heads);
  call.check_shape(!keys.is_constant() || !query.is_constant() || keys == query, "queries have ", query.text(), " columns by head, keys ",
                   keys.text());
  const Dims& dims = call.dims(kQuery);
  call.out(0, call.dtype(kQuery), {dims[0], dims[1], values * Dim(heads)});
  if (call.outputs() > 1) call.out(1, call.dtype(call.has(kPast) ? kPast : kQuery), {dims[0], Dim(states), keys, values});
}

struct Geometry {
  std::int64_t batch, tokens, heads, states, keys, values;
  explicit Geometry(const Call& call)
      : batch(call.in[kQuery].shape[0]), tokens(call.in[kQuery].shape[1]), heads(call.attributes().integer("q_num_heads")),
        states(call.attributes().integer("kv_num_heads")), keys(call.in[kKey].shape[2] / states),
        values(call.in[kValue].shape[2] / states) {
    const auto expect = [&](int i, const Shape& shape) {
      if (call.has(i)) call.check_shape(call.in[static_cast<std::size_t>(i)].shape == shape, "operand ", i, " has the shape [",
                                        text(call.in[static_cast<std::size_t>(i)].shape), "], [", text(shape), "] expected");
    };
    expect(kQuery, {batch, tokens, heads * keys}), expect(kKey, {batch, tokens, states * keys});
    expect(kValue, {batch, tokens, states * values}), expect(kPast, {batch, states, keys, values});
    if (call.has(kDecay) && call.in[kDecay].shape != Shape{batch, tokens, states}) expect(kDecay, {batch, tokens, states * keys});
    if (call.has(kBeta) && call.in[kBeta].shape != Shape{batch, tokens, 1}) expect(kBeta, {batch, tokens, states});
  }
};

// One head's state through all tokens, in f64.
class Recurrence {
 public:
  Recurrence(const Call& call, const Geometry& g, Rule rule) : call_(call), g_(g), rule_(rule) {
    const double given = call.attributes().number("scale");
    scale_ = given != 0 ? given : 1 / std::sqrt(static_cast<double>(g.keys));
    by_key_ = call.has(kDecay) && call.in[kDecay].shape[2] != g.states;
    one_rate_ = call.has(kBeta) && call.in[kBeta].shape[2] != g.states;
    state_.resize(static_cast<std::size_t>(g.keys * g.values));
    update_.resize(static_cast<std::size_t>(g.values));
  }
  void run(std::int64_t b, std::int64_t head) {
    const std::int64_t count = g_.keys * g_.values, first = (b * g_.states + head) * count;
    for (std::int64_t i = 0; i < count; ++i) at(i) = call_.has(kPast) ? load(kPast, first + i) : 0;
    for (std::int64_t t = 0; t < g_.tokens; ++t) {
      const std::int64_t token = b * g_.tokens + t;
      if (rule_.decays) decay(token, head);
      add(token, head);
      const std::int64_t group = g_.heads / g_.states;
      for (std::int64_t h = head * group; h < (head + 1) * group; ++h) read(token, h);
    }
    if (call_.out.size() > 1 && call_.out[1].data)
      for (std::int64_t i = 0; i < count; ++i) store_double(call_.out[1].dtype, call_.out[1].data, first + i, at(i));
  }

 private:
  double load(Operand operand, std::int64_t i) const { return load_double(call_.in[operand].dtype, call_.in[operand].data, i); }
  double& at(std::int64_t i) { return state_[static_cast<std::size_t>(i)]; }
  void decay(std::int64_t token, std::int64_t head) {
    for (std::int64_t k = 0; k < g_.keys; ++k) {
      const double factor = std::exp(load(kDecay, by_key_ ? (token * g_.states + head) * g_.keys + k : token * g_.states + head));
      for (std::int64_t v = 0; v < g_.values; ++v) at(k * g_.values + v) *= factor;
    }
  }
  void add(std::int64_t token, std::int64_t head) {
    const std::int64_t place = token * g_.states + head;
    const double rate = rule_.corrects ? load(kBeta, one_rate_ ? token : place) : 1;
    for (std::int64_t v = 0; v < g_.values; ++v) {
      double value = load(kValue, place * g_.values + v);
      for (std::int64_t k = 0; rule_.corrects && k < g_.keys; ++k) value -= load(kKey, place * g_.keys + k) * at(k * g_.values + v);
      update_[static_cast<std::size_t>(v)] = rate * value;
    }
    for (std::int64_t k = 0; k < g_.keys; ++k) {
      const double key = load(kKey, place * g_.keys + k);
      for (std::int64_t v = 0; v < g_.values; ++v) at(k * g_.values + v) += key * update_[static_cast<std::size_t>(v)];
    }
  }
  void read(std::int64_t token, std::int64_t head) {
    const std::int64_t place = token * g_.heads + head;
    for (std::int64_t v = 0; v < g_.values; ++v) {
      double sum = 0;
      for (std::int64_t k = 0; k < g_.keys; ++k) sum += load(kQuery, place * g_.keys + k) * at(k * g_.values + v);
      store_double(call_.out[0].dtype, call_.out[0].data, place * g_.values + v, scale_ * sum);
    }
  }

  const Call& call_;
  const Geometry& g_;
  const Rule rule_;
  double scale_;
  bool by_key_, one_rate_;
  std::vector<double> state_, update_;
};

void reference(Call& call) {
  const Geometry g(call);
  Recurrence recurrence(call, g, rule_named(call.attributes().string("update_rule")));
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t head = 0; head < g.states; ++head) recurrence.run(b, head);
}

}  // namespace

OpDef op_linear_attention() {
  return {.name = "LinearAttention",
          .min_inputs = 3,
          .max_inputs = 6,
          .max_outputs = 2,
          .types = "T, T, T, S?, T?, T? -> T, *; T: real; S: real",
          .attributes = {{"chunk_size", 64}, {"q_num_heads", 0}, {"kv_num_heads", 0}, {"scale", 0.0f}, {"update_rule", "gated_delta"}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 27,
          .cases = {"f32[2,3,8] f32[2,3,8] f32[2,3,6] q_num_heads=2 kv_num_heads=2 update_rule=\"linear\" outputs=2",
                    "f32[1,4,8] f32[1,4,4] f32[1,4,3] f32[1,1,4,3] f32[1,4,1](-1,0) f32[1,4,1](0,1) q_num_heads=2 kv_num_heads=1 outputs=2",
                    "f32[2,3,8] f32[2,3,8] f32[2,3,8] _ f32[2,3,8](-1,0) q_num_heads=2 kv_num_heads=2 update_rule=\"gated\"",
                    "f16[1,2,8] f16[1,2,8] f16[1,2,8] f32[1,2,4,4] _ f16[1,2,2](0,1) q_num_heads=2 kv_num_heads=2 "
                    "update_rule=\"delta\" outputs=2",
                    "f32[1,0,4] f32[1,0,4] f32[1,0,4] q_num_heads=1 kv_num_heads=1 update_rule=\"linear\" outputs=2"},
          .on_host = "no GPU kernel has its recurrence yet"};
}

}  // namespace tenfold::ir
