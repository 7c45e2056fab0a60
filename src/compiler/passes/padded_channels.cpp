// From convolutions on, which can give channels of zeros, through what computes each channel by itself.
#include "passes/padded_channels.h"

#include <algorithm>
#include <cmath>

#include "base/types/element.h"
#include "ops/interpret.h"
#include "passes/match.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr std::int64_t kFew = 8;                  // with so few, images are read otherwise (conv_small_c)
constexpr std::int64_t kManyElements = 1 << 22;   // of a result: worth a kernel that cuts the new channels off

std::optional<std::int64_t> channels_of(const Value& v) {
  if (v.is_constant() || v.rank() < 3 || v.rank() > 5 || !v.dims()[1].is_constant()) return std::nullopt;
  return v.dims()[1].constant();
}

bool is_norm_by_channel(const Node& n) {
  if (n.op() == "GroupNormalization" && n.attributes.integer("num_groups") != channels_of(*n.in(0))) return false;
  if (n.op() != "InstanceNormalization" && n.op() != "GroupNormalization") return false;
  return !n.body && n.in(1)->is_constant() && n.in(2)->is_constant() && n.attributes.number("epsilon", 1e-5f) > 0;
}

bool is_pool(const Node& n) { return (n.op() == "MaxPool" || n.op() == "AveragePool") && !n.body && n.outputs.size() == 1; }

// The same number, as an operand of one element.
Tensor one_element(DType dtype, int rank, double value) {
  Tensor t(dtype, Shape(static_cast<std::size_t>(rank), 1));
  if (is_float(dtype)) store_double(dtype, t.mutable_raw(), 0, value);
  else store_int(dtype, t.mutable_raw(), 0, static_cast<std::int64_t>(value));
  return t;
}

std::int64_t round_up_to(std::int64_t n, std::int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

}  // namespace

bool is_narrow_product(const Node& n) {
  if (n.op() != "Conv" && n.op() != "ConvTranspose" && n.op() != "ConvInteger" && n.op() != "ConvFloat8") return false;
  if (n.body || n.outputs.size() != 1 || n.attributes.integer("group", 1) != 1 || n.in(3)) return false;
  if (!n.in(1)->is_constant() || !channels_of(*n.in(0)) || !channels_of(*n.out())) return false;
  const bool bias = n.op() == "Conv" || n.op() == "ConvTranspose";
  return bits(n.in(0)->dtype()) <= 16 && (!bias || !n.in(2) || n.in(2)->is_constant());
}

bool is_by_channel(const Value& v, const Value& of) {
  if (!v.is_constant() || !ir::is_constant(v.dims())) return false;
  const int spatial = of.rank() - 2, axis = v.rank() - spatial - 1;
  if (axis < 0 || axis > 1) return false;
  for (int d = 0; d < v.rank(); ++d)
    if (v.dims()[static_cast<std::size_t>(d)] != (d == axis ? of.dims()[1] : ir::Dim(1))) return false;
  return true;
}

PaddedChannels::PaddedChannels(const ir::Graph& graph) {
  for (const auto& n : graph.nodes()) look_at(*n);
  choose();
}

// What a node that computes element by element puts into new channels, if its operands by channel hold `filler` there.
std::optional<double> PaddedChannels::held_by_result(const Node& n, double filler) const {
  std::vector<ops::RuntimeValue> operands;
  bool padded = false;
  for (const Value* v : n.inputs) {
    if (!v) {
      operands.emplace_back();
    } else if (const auto it = held_.find(v); it != held_.end()) {
      if (v->dims()[1] != n.out()->dims()[1] || v->rank() != n.out()->rank()) return std::nullopt;
      operands.emplace_back(one_element(v->dtype(), v->rank(), it->second.value)), padded = true;
    } else if (v->is_constant() && v->constant->tensor.size() == 1 && v->rank() <= n.out()->rank()) {
      const Tensor* const number = look(v);
      if (!number) return std::nullopt;
      operands.emplace_back(*number);
    } else if (is_by_channel(*v, *n.out())) {
      operands.emplace_back(one_element(v->dtype(), v->rank(), filler));
    } else {
      return std::nullopt;
    }
  }
  if (!padded) return std::nullopt;
  const Tensor result = std::get<Tensor>(ops::run_node(n, operands)[0]);
  const double value = result.as_double(0);
  return result.size() == 1 && std::abs(value) < 1e3 ? std::optional(value) : std::nullopt;   // no NaN either
}

void PaddedChannels::look_at(const Node& n) {
  const Value* y = n.out();
  if (!y || n.outputs.size() != 1 || y->type.kind != ir::ValueType::Kind::tensor) return;
  const auto channels = channels_of(*y);
  if (!channels || *channels <= kFew) return;
  if (is_narrow_product(n)) return join(n, 0);
  const auto x = held_.find(n.in(0));
  if (is_norm_by_channel(n) || is_pool(n)) {
    if (x != held_.end() && x->second.value == 0) join(n, 0);
    return;
  }
  if (n.body || !n.def->scalar) return;
  for (const double filler : {0.0, 1.0})
    if (const auto value = held_by_result(n, filler)) return fillers_[&n] = filler, join(n, *value);
}

// The result gets the channels of the operands from which it takes them.
void PaddedChannels::join(const Node& n, double value) {
  const std::size_t own = sets_.size();
  sets_.push_back(own);
  held_[n.out()] = {value, own};
  if (is_narrow_product(n)) return;
  for (const Value* v : n.inputs)
    if (const auto it = held_.find(v); it != held_.end()) sets_[set_of(it->second.set)] = own;
}

std::size_t PaddedChannels::set_of(std::size_t i) const {
  while (sets_[i] != i) i = sets_[i];
  return i;
}

// Sets that a convolution reads, or whose tensors are large; of 16 bytes for each element of an image, and no more than half as many
// channels again.
void PaddedChannels::choose() {
  std::map<std::size_t, std::int64_t> wanted, pieces;
  for (const auto& [v, held] : held_) {
    const std::size_t set = set_of(held.set);
    const bool read = std::any_of(v->users.begin(), v->users.end(),
                                  [v = v](const Node* n) { return is_narrow_product(*n) && n->in(0) == v; });
    const ir::Dim elements = ir::product(std::span(v->dims()).subspan(1));
    if (read || (elements.is_constant() && elements.constant() >= kManyElements)) wanted[set] = *channels_of(*v);
    pieces[set] = std::max<std::int64_t>(pieces[set], bits(v->dtype()) == 8 ? 16 : 8);
  }
  for (const auto& [set, channels] : wanted) {
    const std::int64_t more = round_up_to(channels, pieces[set]);
    if (more != channels && 2 * more <= 3 * channels) channels_[set] = more;
  }
}

std::optional<std::int64_t> PaddedChannels::channels(const Value* v) const {
  const auto held = held_.find(v);
  if (held == held_.end()) return std::nullopt;
  const auto chosen = channels_.find(set_of(held->second.set));
  return chosen == channels_.end() ? std::nullopt : std::optional(chosen->second);
}

double PaddedChannels::filler(const Node& n) const {
  const auto it = fillers_.find(&n);
  return it == fillers_.end() ? 0 : it->second;
}

}  // namespace tenfold::passes
