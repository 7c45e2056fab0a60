// The rules by which a mask is followed from its input; what none of them knows is no token mask.
#include "passes/token_mask.h"

#include <algorithm>
#include <cstring>

#include "base/types/element.h"
#include "ops/interpret.h"
#include "passes/match.h"
#include "passes/movement.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Node;
using ir::Value;

// Exponentials of what is this much lower are 0 beside any score that trained models have: exporters write -10000 to minus infinity.
constexpr double kHidden = -9999;

const Dim kOne(1);

// The axes whose extent is not 1.
std::vector<int> long_axes(const Dims& dims) {
  std::vector<int> axes;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d)
    if (!(dims[static_cast<std::size_t>(d)] == kOne)) axes.push_back(d);
  return axes;
}
Dims long_dims(const Dims& dims) {
  Dims out;
  for (int d : long_axes(dims)) out.push_back(dims[static_cast<std::size_t>(d)]);
  return out;
}

Tensor twice(const Tensor& t) {
  Tensor values(t.dtype(), {2});
  const auto bytes = static_cast<std::size_t>(bits(t.dtype()) / 8);
  auto* to = static_cast<std::byte*>(values.mutable_raw());
  for (std::size_t i = 0; i < 2; ++i) std::memcpy(to + i * bytes, t.raw(), bytes);
  return values;
}

bool is_pointwise(const Node& n) { return n.def->scalar && n.def->pure && !n.body && n.outputs.size() == 1; }

}  // namespace

TokenMask::TokenMask(const Value* root) : root_(root) {
  Tensor values(root->dtype(), {2});
  for (std::int64_t i = 0; i < 2; ++i) store_int(values.dtype(), values.mutable_raw(), i, i);
  const Dims& dims = root->dims();
  known_[root] = Form{std::move(values), dims[0] == kOne ? -1 : 0, dims[1] == kOne ? -1 : 1, -1, root->dtype() != DType::boolean};
}

bool TokenMask::hides_keys(const Value* v) {
  const Known& f = form(v);
  if (!f || f->both >= 0 || v->rank() > 4) return false;
  const int shift = 4 - v->rank();
  const bool aligned = (f->batch < 0 ? root_->dims()[0] == kOne : f->batch + shift == 0) && f->key >= 0 && f->key + shift == 3;
  if (!aligned || !(f->values.as_double(0) <= kHidden) || f->values.as_double(1) != 0) return false;
  only_0_and_1_ = only_0_and_1_ || f->strict || f->raw;
  return true;
}

bool TokenMask::zero_where_hidden(const Value* v) {
  const Known& f = form(v);
  return f && v->dims() == root_->dims() && f->both < 0 && (f->batch == 0 || root_->dims()[0] == kOne) && f->key == 1 &&
         f->values.as_double(0) == 0;
}

const TokenMask::Known& TokenMask::form(const Value* v) {
  const auto it = known_.find(v);
  return it != known_.end() ? it->second : known_[v] = form_of(v);
}

TokenMask::Known TokenMask::form_of(const Value* v) {
  if (v->type.kind != ir::ValueType::Kind::tensor || v->dtype() == DType::string || bits(v->dtype()) < 8) return {};
  if (v->is_constant()) return of_constant(v);
  if (!v->producer || v->producer->body || v->producer->outputs.size() != 1 || !v->producer->in(0)) return {};
  const Node& n = *v->producer;
  if (n.op() == "Identity") return form(n.in(0));
  if (is_reshape(n)) return reshaped(n);
  if (n.op() == "Expand" && !ir::is_checked_by_run(n)) return expanded(n);
  if (n.op() == "Gather") return gathered(n);
  if (is_pointwise(n)) return pointwise(n);
  return {};
}

// The same number everywhere.
TokenMask::Known TokenMask::of_constant(const Value* v) {
  const Tensor* t = look(v);
  if (!t || t->size() == 0) return {};
  const auto bytes = static_cast<std::size_t>(bits(t->dtype()) / 8);
  const auto* data = static_cast<const std::byte*>(t->raw());
  for (std::int64_t i = 1; i < t->size(); ++i)
    if (std::memcmp(data, data + static_cast<std::size_t>(i) * bytes, bytes) != 0) return {};
  return Form{twice(*t)};
}

TokenMask::Known TokenMask::pointwise(const Node& n) {
  if (n.op() == "GreaterOrEqual" && never_negative(n.in(0)) && is_scalar(n.in(1), 0)) {   // as in torch's causal mask, switched off
    Tensor yes(DType::boolean, {1});
    *yes.mutable_data<std::uint8_t>() = 1;
    return Form{twice(yes)};
  }
  Form result;
  std::vector<ops::RuntimeValue> operands;
  bool raw = false;
  for (const Value* v : n.inputs) {
    if (!v) {
      operands.emplace_back();
      continue;
    }
    const Known f = form(v);
    if (!f || f->both >= 0) return {};
    const int shift = n.out()->rank() - v->rank();
    for (const auto& [from, to] : {std::pair{f->batch, &result.batch}, std::pair{f->key, &result.key}}) {
      if (from >= 0 && *to >= 0 && *to != from + shift) return {};
      if (from >= 0) *to = from + shift;
    }
    raw = raw || f->raw, result.strict = result.strict || f->strict;
    operands.emplace_back(v->is_constant() && v->rank() == 0 ? v->constant->tensor : f->values);
  }
  if (result.batch >= 0 && result.batch == result.key) return {};
  Tensor values = std::get<Tensor>(ops::run_node(n, operands).at(0));
  if (values.size() == 1) values = twice(values);
  if (values.shape() != Shape{2}) return {};
  result.values = std::move(values);
  // Truth is all that is left of a number behind a Cast to bool. Other arithmetic is known for 0 and 1.
  const bool cast = n.op() == "Cast";
  result.raw = raw && cast && is_integer(n.out()->dtype()) && bits(n.out()->dtype()) >= bits(n.in(0)->dtype());
  result.strict = result.strict || (raw && !result.raw && !(cast && n.out()->dtype() == DType::boolean));
  return result;
}

TokenMask::Known TokenMask::reshaped(const Node& n) {
  Known f = form(n.in(0));
  if (!f) return {};
  const Dims from = long_dims(n.in(0)->dims()), to = long_dims(n.out()->dims());
  const std::vector<int> old_axes = long_axes(n.in(0)->dims()), new_axes = long_axes(n.out()->dims());
  if (from == to) {
    for (int* axis : {&f->batch, &f->key, &f->both})
      if (*axis >= 0) *axis = new_axes[static_cast<std::size_t>(std::find(old_axes.begin(), old_axes.end(), *axis) - old_axes.begin())];
    return f;
  }
  const bool joins = from.size() == 2 && to.size() == 1 && to[0] == from[0] * from[1] && f->batch == old_axes[0] && f->key == old_axes[1];
  if (!joins) return {};
  f->batch = f->key = -1, f->both = new_axes[0];
  return f;
}

TokenMask::Known TokenMask::expanded(const Node& n) {
  Known f = form(n.in(0));
  const int shift = n.out()->rank() - n.in(0)->rank();
  if (f)
    for (int* axis : {&f->batch, &f->key, &f->both})
      if (*axis >= 0) *axis += shift;
  return f;
}

// From all tokens behind each other by row * sequence + column, which puts them where row and column stand.
TokenMask::Known TokenMask::gathered(const Node& n) {
  Known f = form(n.in(0));
  const std::optional<Index> index = index_of(n.in(1));
  const std::int64_t axis = n.attributes.integer("axis", 0);
  if (!f || !index || axis != 0 || !(index->first == Dim(0))) return {};
  int row = -1, column = -1;
  const Dims& places = n.in(1)->dims();
  for (int d = 0; d < static_cast<int>(places.size()); ++d) {
    const Dim step = index->steps[static_cast<std::size_t>(d)], extent = places[static_cast<std::size_t>(d)];
    if (extent == kOne || step == Dim(0)) continue;
    if (row < 0 && step == root_->dims()[1] && extent == root_->dims()[0] && !(step == kOne)) row = d;
    else if (column < 0 && step == kOne && extent == root_->dims()[1]) column = d;
    else return {};
  }
  const bool all = f->both == 0 && row >= 0, one_row = f->key == 0 && f->batch < 0 && root_->dims()[0] == kOne && row < 0;
  if (column < 0 || (!all && !one_row)) return {};
  f->both = -1, f->batch = row, f->key = column;
  return f;
}

// 0, 1, 2 ... in row-major order, as a Range of known extents was folded.
std::optional<TokenMask::Index> TokenMask::counted(const Value* v) {
  const Tensor* t = is_integer(v->dtype()) && ir::is_constant(v->dims()) ? look(v) : nullptr;
  if (!t) return {};
  for (std::int64_t i = 0; i < t->size(); ++i)
    if (t->as_double(i) != static_cast<double>(i)) return {};
  Index index{Dims(v->dims().size(), kOne), Dim(0)};
  for (std::size_t d = v->dims().size(); d-- > 1;) index.steps[d - 1] = index.steps[d] * v->dims()[d];
  return index;
}

std::optional<TokenMask::Index> TokenMask::index_of(const Value* v) {
  const auto rank = static_cast<std::size_t>(v->rank());
  if (v->contents && v->contents->size() == 1) return Index{Dims(rank, Dim(0)), v->contents->front()};
  if (v->is_constant()) return counted(v);
  const Node* n = v->producer;
  if (!n || n->body) return {};
  if (n->op() == "Range") {
    const auto is = [&](int i, Dim requested) { return n->in(i)->contents && n->in(i)->contents->front() == requested; };
    if (is(0, Dim(0)) && is(2, kOne)) return Index{{kOne}, Dim(0)};
    return {};
  }
  if (is_reshape(*n)) {
    const std::optional<Index> from = index_of(n->in(0));
    if (!from || long_dims(n->in(0)->dims()) != long_dims(v->dims())) return {};
    Index to{Dims(rank, Dim(0)), from->first};
    const std::vector<int> old_axes = long_axes(n->in(0)->dims()), new_axes = long_axes(v->dims());
    for (std::size_t i = 0; i < old_axes.size(); ++i)
      to.steps[static_cast<std::size_t>(new_axes[i])] = from->steps[static_cast<std::size_t>(old_axes[i])];
    return to;
  }
  if (n->op() != "Add" && n->op() != "Mul") return {};
  const std::optional<Index> a = index_of(n->in(0)), b = index_of(n->in(1));
  if (!a || !b) return {};
  Index to{Dims(rank, Dim(0)), n->op() == "Add" ? a->first + b->first : a->first * b->first};
  const auto constant = [](const Index& i) { return std::all_of(i.steps.begin(), i.steps.end(), [](Dim s) { return s == Dim(0); }); };
  if (n->op() == "Mul" && !constant(*a) && !constant(*b)) return {};
  for (const auto& [one, other] : {std::pair{&*a, &*b}, std::pair{&*b, &*a}})
    for (std::size_t i = 0; i < one->steps.size(); ++i) {
      Dim& step = to.steps[rank - one->steps.size() + i];
      step = step + (n->op() == "Add" ? one->steps[i] : one->steps[i] * other->first);
    }
  return to;
}

bool TokenMask::never_negative(const Value* v) {
  const std::optional<Index> index = v ? index_of(v) : std::nullopt;
  const auto good = [](Dim d) { return d.is_constant() && d.constant() >= 0; };
  return index && good(index->first) && std::all_of(index->steps.begin(), index->steps.end(), good);
}

}  // namespace tenfold::passes
