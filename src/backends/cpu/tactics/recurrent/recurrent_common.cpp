#include "backends/cpu/tactics/recurrent/recurrent_common.h"

#include <cstring>

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

RecurrentCell cell_of(const Problem& p) {
  return p.op->name == "LSTM" ? RecurrentCell::lstm : p.op->name == "GRU" ? RecurrentCell::gru : RecurrentCell::rnn;
}
std::int64_t gates_of(const Problem& p) {
  return cell_of(p) == RecurrentCell::lstm ? 4 : cell_of(p) == RecurrentCell::gru ? 3 : 1;
}
// Of an RNN that has the same in each direction: "Tanh", which is what it has where nothing is said, or "Relu". Else empty.
std::string activation_of(const Problem& p) {
  if (!p.attributes->has("activations")) return "Tanh";
  const std::vector<std::string>& names = p.attributes->strings("activations");
  for (const std::string& name : names)
    if (name != names.front() || (name != "Tanh" && name != "Relu")) return {};
  return names.empty() ? "" : names.front();
}
bool given(const Problem& p, std::size_t i) { return p.in.size() > i && !p.in[i].missing; }

}  // namespace

const RecurrentKernels& recurrent_kernels(const Problem& p) { return pick(p, tenfold_recurrent_avx2, tenfold_recurrent_avx512); }

RecurrentExtents::RecurrentExtents(const Problem& p, int64_t unit, int64_t whole)
    : directions(p.in[1].dims[0].constant()),
      gates(gates_of(p)),
      input(p.in[1].dims[2].constant()),
      hidden(p.in[2].dims[2].constant()),
      padded(round_up(hidden, unit)),
      panel(whole) {}

Verdict supports_recurrent(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  for (std::size_t i = 1; i < 3; ++i) {
    if (!p.in[i].constant || !ir::is_constant(p.in[i].dims)) return Verdict::no("the weights are not constant");
    for (ir::Dim d : p.in[i].dims)
      if (d.constant() < 1 || d.constant() > 1 << 16) return Verdict::no("the weights are empty or too large");
  }
  if (given(p, 4)) return Verdict::no("sequences of different lengths");
  if (given(p, 7)) return Verdict::no("peepholes");
  for (const char* option : {"activations", "activation_alpha", "activation_beta"})
    if (p.attributes->has(option) && (cell_of(p) != RecurrentCell::rnn || activation_of(p).empty()))
      return Verdict::no("activations of its own");
  if (p.attributes->number("clip", 0) != 0) return Verdict::no("clipping");
  if (p.attributes->integer("input_forget", 0) != 0) return Verdict::no("input and forget gates are coupled");
  return dense_plain_f32(p);
}

RecurrentKernel::RecurrentKernel(const Problem& p, const RecurrentExtents& extents)
    : kernels(&recurrent_kernels(p)),
      e(extents),
      cell(cell_of(p)),
      relu(cell == RecurrentCell::rnn && activation_of(p) == "Relu"),
      reverse(p.attributes->string("direction") == "reverse"),
      batch_first(p.attributes->integer("layout") != 0),
      has_bias(given(p, 3)),
      has_state(given(p, 5)),
      has_cell(given(p, 6)),
      product_first(p.attributes->integer("linear_before_reset", 0) != 0) {
  for (std::size_t i = 0; i < 3; ++i) wants[i] = p.out.size() > i && !p.out[i].missing;
}

ir::Dim recurrent_workspace(const Problem& p, const RecurrentExtents& e) {
  const bool batch_first = p.attributes->integer("layout") != 0;
  const ir::Dim steps = p.in[0].dims[batch_first ? 1 : 0], batch = p.in[0].dims[batch_first ? 0 : 1];
  return batch * ir::Dim(e.directions * 4) * (steps * ir::Dim(e.row()) + ir::Dim(4 * e.padded)) + ir::Dim(2 * e.directions * e.row() * 4);
}

double recurrent_work(const Problem& p) {
  const RecurrentExtents e(p, 1, 1);
  return 2.0 * static_cast<double>(p.bounds(p.in[0].dims[0] * p.in[0].dims[1]).upper) *
         static_cast<double>(e.directions * e.gates * e.hidden * (e.input + e.hidden));
}

namespace {

class Run {
 public:
  Run(const RecurrentKernel& k, const RecurrentProducts& products, const RunArgs& args) noexcept
      : k_(k), e_(k.e), products_(products), args_(args), x_(args.in[0]) {
    steps_ = x_.dims[k.batch_first ? 1 : 0];
    batch_ = x_.dims[k.batch_first ? 0 : 1];
    x_step_ = x_.strides[k.batch_first ? 1 : 0];
    x_sample_ = x_.strides[k.batch_first ? 0 : 1];
    gates_ = static_cast<float*>(args.workspace);
    states_ = gates_ + e_.directions * steps_ * batch_ * e_.row();
    bias_ = states_ + e_.directions * batch_ * 4 * e_.padded;
  }
  void all(int64_t unit_parts, int64_t panel) noexcept {
    make_bias();
    constexpr int64_t kRowsOfPart = 12;
    const int64_t row_parts = ceil_div(steps_ * batch_, kRowsOfPart);
    args_.parallel->for_each(e_.directions * row_parts, [&](int64_t part, int worker) {
      const int64_t first = part % row_parts * kRowsOfPart;
      project(part / row_parts, first, std::min(first + kRowsOfPart, steps_ * batch_), worker);
    });
    if (unit_parts > 1 && (!k_.gru() || k_.product_first)) {
      for (int64_t d = 0; d < e_.directions; ++d) walk_by_units(d, unit_parts, panel);
      return;
    }
    constexpr int64_t kSamplesOfPart = 3;  // samples do not depend on each other
    const int64_t sample_parts = ceil_div(batch_, kSamplesOfPart);
    args_.parallel->for_each(e_.directions * sample_parts, [&](int64_t part, int worker) {
      const int64_t first = part % sample_parts * kSamplesOfPart;
      walk(part / sample_parts, first, std::min(kSamplesOfPart, batch_ - first), worker);
    });
  }

 private:
  float* gates(int64_t d, int64_t step, int64_t sample) const { return gates_ + ((d * steps_ + step) * batch_ + sample) * e_.row(); }
  float* state(int64_t d, int64_t which, int64_t sample) const { return states_ + ((d * 4 + which) * batch_ + sample) * e_.padded; }

  // bias_: added to the input's product; behind it, only for a GRU whose product comes first, the candidate's bias of the state.
  void make_bias() noexcept {
    std::memset(bias_, 0, static_cast<std::size_t>(2 * e_.directions * e_.row()) * 4);
    if (!k_.has_bias) return;
    const int64_t all = e_.gates * e_.hidden;
    for (int64_t d = 0; d < e_.directions; ++d)
      for (int64_t g = 0; g < e_.gates; ++g)
        for (int64_t u = 0; u < e_.hidden; ++u) {
          const float* b = args_.in[3].as<const float>() + d * 2 * all + g * e_.hidden + u;
          const bool apart = k_.gru() && k_.product_first && g == 2;
          bias_[(d * 2) * e_.row() + g * e_.padded + u] = b[0] + (apart ? 0.f : b[all]);
          if (apart) bias_[(d * 2 + 1) * e_.row() + g * e_.padded + u] = b[all];
        }
  }
  void project(int64_t d, int64_t first, int64_t last, int worker) noexcept {
    const bool in_rows = steps_ == 1 || batch_ == 1 || x_step_ == batch_ * x_sample_;
    for (int64_t r = first; r < last; ++r)
      std::memcpy(gates_ + (d * steps_ * batch_ + r) * e_.row(), bias_ + d * 2 * e_.row(), static_cast<std::size_t>(e_.row()) * 4);
    const auto x = [&](int64_t r) { return x_.as<const float>() + r / batch_ * x_step_ + r % batch_ * x_sample_; };
    float* out = gates_ + (d * steps_ * batch_ + first) * e_.row();
    if (in_rows) {
      const int64_t row = steps_ == 1 ? x_sample_ : batch_ == 1 ? x_step_ : x_sample_;
      products_.add({1, d, 0, e_.row(), x(first), row, last - first, out, e_.row()}, worker);
    } else {
      for (int64_t r = first; r < last; ++r, out += e_.row())
        products_.add({1, d, 0, e_.row(), x(r), 0, 1, out, e_.row()}, worker);
    }
  }

  // Elements of Y [steps, directions, batch, hidden] and of states [directions, batch, hidden], or with the batch in front.
  float* output(int64_t d, int64_t step, int64_t sample) const {
    const Bound& y = args_.out[0];
    return y.as<float>() + (k_.batch_first ? sample * y.strides[0] + step * y.strides[1] + d * y.strides[2]
                                           : step * y.strides[0] + d * y.strides[1] + sample * y.strides[2]);
  }
  float* of_state(const Bound& b, int64_t d, int64_t sample) const {
    return b.as<float>() + (k_.batch_first ? sample * b.strides[0] + d * b.strides[1] : d * b.strides[0] + sample * b.strides[1]);
  }

  void begin(int64_t d, int64_t first, int64_t samples) noexcept {
    for (int64_t s = first; s < first + samples; ++s) {
      for (int64_t which = 0; which < 4; ++which) std::memset(state(d, which, s), 0, static_cast<std::size_t>(e_.padded) * 4);
      if (k_.has_state) std::memcpy(state(d, 0, s), of_state(args_.in[5], d, s), state_bytes());
      if (k_.lstm() && k_.has_cell) std::memcpy(state(d, 1, s), of_state(args_.in[6], d, s), state_bytes());
    }
  }
  void end(int64_t d, int64_t first, int64_t samples, int64_t which) noexcept {  // `which` has the state
    for (int64_t s = first; s < first + samples; ++s) {
      if (k_.wants[1]) std::memcpy(of_state(args_.out[1], d, s), state(d, which, s), state_bytes());
      if (k_.lstm() && k_.wants[2]) std::memcpy(of_state(args_.out[2], d, s), state(d, 1, s), state_bytes());
    }
  }
  std::size_t state_bytes() const { return static_cast<std::size_t>(e_.hidden) * 4; }
  int64_t step_at(int64_t d, int64_t i) const { return k_.reverse || d == 1 ? steps_ - 1 - i : i; }

  // Each part takes some units of all samples. The states of a step and of the next one lie apart: parts read all of the first.
  void walk_by_units(int64_t d, int64_t parts, int64_t panel) noexcept {
    begin(d, 0, batch_);
    const int64_t units = round_up(ceil_div(e_.padded, parts), panel);
    int64_t from = 0, to = 3;
    for (int64_t i = 0; i < steps_; ++i, std::swap(from, to)) {
      args_.parallel->for_each(ceil_div(e_.padded, units), [&](int64_t part, int worker) {
        const int64_t first = part * units, count = std::min(units, e_.padded - first);
        unit_step(d, step_at(d, i), first, count, from, to, worker);
      });
    }
    end(d, 0, batch_, from);
  }
  void unit_step(int64_t d, int64_t step, int64_t first, int64_t count, int64_t from, int64_t to, int worker) noexcept {
    float *const g = gates(d, step, 0) + first, *const from_state = state(d, 2, 0) + first;
    const int64_t in_place = k_.gru() ? 2 : e_.gates;  // of a GRU, the candidate waits for its reset gate
    products_.add({2, d, first, count, state(d, from, 0), e_.padded, batch_, g, e_.row(), in_place}, worker);
    if (k_.gru()) {
      const float* bias = bias_ + (d * 2 + 1) * e_.row() + 2 * e_.padded + first;
      for (int64_t s = 0; s < batch_; ++s) std::memcpy(from_state + s * e_.padded, bias, static_cast<std::size_t>(count) * 4);
      products_.add({2, d, 2 * e_.padded + first, count, state(d, from, 0), e_.padded, batch_, from_state, e_.padded}, worker);
    }
    for (int64_t s = 0; s < batch_; ++s) {
      float *row = g + s * e_.row(), *made = state(d, to, s) + first;
      if (k_.lstm()) {
        k_.kernels->lstm_cell(row, e_.padded, state(d, 1, s) + first, made, count);
      } else if (!k_.gru()) {
        k_.kernels->rnn_cell(row, made, count, k_.relu);
      } else {
        std::memcpy(made, state(d, from, s) + first, static_cast<std::size_t>(count) * 4);
        k_.kernels->gru_gates(row, e_.padded, made, nullptr, count);
        k_.kernels->gru_state(row, row + e_.padded, row + 2 * e_.padded, from_state + s * e_.padded, made, count);
      }
      const int64_t exist = std::min(count, e_.hidden - first);
      if (k_.wants[0] && exist > 0) std::memcpy(output(d, step, s) + first, made, static_cast<std::size_t>(exist) * 4);
    }
  }

  void walk(int64_t d, int64_t first, int64_t samples, int worker) noexcept {
    begin(d, first, samples);
    for (int64_t i = 0; i < steps_; ++i) {
      const int64_t step = step_at(d, i);
      if (k_.gru())
        gru_step(d, step, first, samples, worker);
      else
        step_in_place(d, step, first, samples, worker);
      if (k_.wants[0])
        for (int64_t s = first; s < first + samples; ++s) std::memcpy(output(d, step, s), state(d, 0, s), state_bytes());
    }
    end(d, first, samples, 0);
  }

  // LSTM and RNN.
  void step_in_place(int64_t d, int64_t step, int64_t first, int64_t samples, int worker) noexcept {
    float* g = gates(d, step, first);
    products_.add({2, d, 0, e_.row(), state(d, 0, first), e_.padded, samples, g, e_.row()}, worker);
    for (int64_t s = 0; s < samples; ++s) {
      float *const row = g + s * e_.row(), *const made = state(d, 0, first + s);
      if (k_.lstm())
        k_.kernels->lstm_cell(row, e_.padded, state(d, 1, first + s), made, e_.padded);
      else
        k_.kernels->rnn_cell(row, made, e_.padded, k_.relu);
    }
  }
  void gru_step(int64_t d, int64_t step, int64_t first, int64_t samples, int worker) noexcept {
    float* g = gates(d, step, first);
    float *reset = state(d, 1, first), *from_state = state(d, 2, first);
    products_.add({2, d, 0, 2 * e_.padded, state(d, 0, first), e_.padded, samples, g, e_.row()}, worker);
    for (int64_t s = 0; s < samples; ++s)
      k_.kernels->gru_gates(g + s * e_.row(), e_.padded, state(d, 0, first + s), k_.product_first ? nullptr : reset + s * e_.padded,
                            e_.padded);
    const float* from_bias = bias_ + (d * 2 + 1) * e_.row() + 2 * e_.padded;
    for (int64_t s = 0; s < samples; ++s) std::memcpy(from_state + s * e_.padded, from_bias, static_cast<std::size_t>(e_.padded) * 4);
    products_.add(
        {2, d, 2 * e_.padded, e_.padded, k_.product_first ? state(d, 0, first) : reset, e_.padded, samples, from_state, e_.padded}, worker);
    for (int64_t s = 0; s < samples; ++s) {
      const float* row = g + s * e_.row();
      k_.kernels->gru_state(row, k_.product_first ? row + e_.padded : nullptr, row + 2 * e_.padded, from_state + s * e_.padded,
                            state(d, 0, first + s), e_.padded);
    }
  }

  const RecurrentKernel& k_;
  const RecurrentExtents& e_;
  const RecurrentProducts& products_;
  const RunArgs& args_;
  const Bound& x_;
  int64_t steps_, batch_, x_step_, x_sample_;
  float *gates_, *states_, *bias_;
};

}  // namespace

void run_recurrent(const RecurrentKernel& kernel, const RecurrentProducts& products, const RunArgs& args, int64_t unit_parts,
                   int64_t panel) noexcept {
  Run(kernel, products, args).all(unit_parts, panel);
}

}  // namespace tenfold::backends::cpu
