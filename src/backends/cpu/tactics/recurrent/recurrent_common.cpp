#include "backends/cpu/tactics/recurrent/recurrent_common.h"

#include <cstring>

#include "ops/recurrent/one_activation.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

bool has_bytes(const Problem& p) { return p.op->name == "RecurrentInt8"; }
RecurrentCell cell_of(const Problem& p) {
  const std::string& name = has_bytes(p) ? p.attributes->string("cell") : p.op->name;
  return name == "LSTM" ? RecurrentCell::lstm : name == "GRU" ? RecurrentCell::gru : RecurrentCell::rnn;
}
std::int64_t gates_of(const Problem& p) {
  return cell_of(p) == RecurrentCell::lstm ? 4 : cell_of(p) == RecurrentCell::gru ? 3 : 1;
}
std::string activation_of(const Problem& p) {
  return has_bytes(p) ? p.attributes->string("activation") : ops::one_activation(*p.attributes);
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
  if (given(p, 7) && !has_bytes(p)) return Verdict::no("peepholes");
  for (const char* option : {"activations", "activation_alpha", "activation_beta"})
    if (p.attributes->has(option) && (cell_of(p) != RecurrentCell::rnn || activation_of(p).empty()))
      return Verdict::no(cat(option, " is set; expected the default activations"));
  if (p.attributes->number("clip", 0) != 0) return Verdict::no("clipping");
  if (p.attributes->integer("input_forget", 0) != 0) return Verdict::no("input and forget gates are coupled");
  if (!has_bytes(p)) return dense_plain_f32(p);
  for (std::size_t i = 0; i < p.in.size(); ++i)
    if (!p.in[i].missing && p.in[i].dtype != (i == 1 || i == 2 ? DType::i8 : DType::f32)) return Verdict::no("an operand has another type");
  for (std::size_t i = 1; i < 3; ++i)
    if (p.in.size() != 9 || !p.in[i + 6].constant || p.in[i + 6].dims != ir::Dims{p.in[i].dims[1]})
      return Verdict::no("there is no constant scale for each row");
  return dense_plain(p);
}

RecurrentKernel::RecurrentKernel(const Problem& p, const RecurrentExtents& extents)
    : kernels(&recurrent_kernels(p)),
      e(extents),
      cell(cell_of(p)),
      relu(cell == RecurrentCell::rnn && activation_of(p) == "Relu"),
      reverse(p.attributes->string("direction") == "reverse"),
      batch_first(p.attributes->integer("layout", 0) != 0),
      has_bias(given(p, 3)),
      has_state(given(p, 5)),
      has_cell(given(p, 6)),
      product_first(p.attributes->integer("linear_before_reset", 0) != 0) {
  for (std::size_t i = 0; i < 3; ++i) has_output[i] = p.out.size() > i && !p.out[i].missing;
}

ir::Dim recurrent_workspace(const Problem& p, const RecurrentExtents& e) {
  const bool batch_first = p.attributes->integer("layout", 0) != 0;
  return recurrent_workspace(e, p.in[0].dims[batch_first ? 1 : 0], p.in[0].dims[batch_first ? 0 : 1]);
}

double recurrent_work(const Problem& p) {
  const RecurrentExtents e(p, 1, 1);
  return 2.0 * static_cast<double>(p.bounds(p.in[0].dims[0] * p.in[0].dims[1]).upper) *
         static_cast<double>(e.directions * e.gates * e.hidden * (e.input + e.hidden));
}

}  // namespace tenfold::backends::cpu
