// Walks the iteration space of a Body row by row (or in short chunks without reductions) and interprets its code on each.
#include "ops/body_interpret.h"

#include <algorithm>
#include <cstring>

#include "base/threads/spread.h"
#include "base/types/element.h"
#include "ops/body_elements.h"
#include "ops/walk.h"

namespace tenfold::ops {
namespace {

constexpr std::int64_t kChunk = 1024;   // elements interpreted together when there is no reduction

Shape span_of(std::span<const ir::TensorRef> in, std::span<const ir::TensorRef> out) {
  Shape space;
  const auto widen = [&](const Shape& shape) {
    if (shape.size() > space.size()) space.insert(space.begin(), shape.size() - space.size(), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& extent = space[space.size() - shape.size() + i];
      if (extent == 1) extent = shape[i];
      ir::check_shape(shape[i] == extent || shape[i] == 1, "extents ", extent, " and ", shape[i], " cannot be broadcast together");
    }
  };
  for (const ir::TensorRef& ref : in) widen(ref.shape);
  for (const ir::TensorRef& ref : out) widen(ref.shape);
  return space;
}

bool trailing_ones(const Shape& shape, int rank) {
  for (int i = 0; i < rank && i < static_cast<int>(shape.size()); ++i) {
    if (shape[shape.size() - 1 - static_cast<std::size_t>(i)] != 1) return false;
  }
  return true;
}

// float32, which the folding of weights is made of, goes stretch by stretch, without asking for the type at every element.
void load_floats(const float* from, Walk& walk, double* to, std::int64_t count) {
  for (std::int64_t i = 0, n; i < count; i += n, walk.skip(n)) {
    n = std::min(count - i, walk.stretch());
    const float* const start = from + walk.offset();
    if (walk.stride() == 1) std::copy(start, start + n, to + i);
    else if (walk.stride() == 0) std::fill(to + i, to + i + n, *start);
    else
      for (std::int64_t k = 0; k < n; ++k) to[i + k] = start[k * walk.stride()];
  }
}

void load(const ir::TensorRef& ref, Walk& walk, Elements& value, std::int64_t count) {
  if (value.narrow) count = std::min<std::int64_t>(count, 1);
  if (ref.dtype == DType::f32 && value.is_real()) return load_floats(static_cast<const float*>(ref.data), walk, value.real.data(), count);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, walk.next()) {
    if (value.is_real()) value.real[i] = load_double(ref.dtype, ref.data, walk.offset());
    else value.whole[i] = load_int(ref.dtype, ref.data, walk.offset());
  }
}

void store(const Elements& value, Walk& walk, const ir::TensorRef& ref, std::int64_t count) {
  if (ref.dtype == DType::f32 && value.dtype == DType::f32) {
    auto* to = static_cast<float*>(ref.data);
    for (std::int64_t i = 0, n; i < count; i += n, walk.skip(n)) {
      n = std::min(count - i, walk.stretch());
      for (std::int64_t k = 0; k < n; ++k) to[walk.offset() + k * walk.stride()] = static_cast<float>(value.real_at(i + k));
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, walk.next()) {
    if (value.is_real()) store_double(ref.dtype, ref.data, walk.offset(), value.real_at(i));
    else store_int(ref.dtype, ref.data, walk.offset(), value.whole_at(i));
  }
}

class Interpreter {
 public:
  Interpreter(const ir::Body& body, std::span<const ir::TensorRef> in, std::span<const ir::TensorRef> out)
      : body_(body), in_(in), out_(out), space_(span_of(in, out)) {
    check(in.size() == body.inputs.size(), "a body of ", body.inputs.size(), " inputs is given ", in.size());
    check(out.size() <= body.outputs.size(), "a body of ", body.outputs.size(), " outputs is asked for ", out.size());
    ir::check_shape(body.reduced_rank <= static_cast<int>(space_.size()), "a body reduces ", body.reduced_rank, " dims of a space of rank ",
             space_.size());
    split_rows();
    make_elements();
  }

  std::int64_t steps() const { return steps_; }
  std::int64_t step() const { return step_; }
  // Elements from `begin`, a multiple of step(), to `end`.
  void run(std::int64_t begin, std::int64_t end) {
    for (std::int64_t start = begin; start < end; start += step_) {
      const std::int64_t count = hollow_ ? 0 : std::min(step_, steps_ - start);
      for (std::size_t i = 0; i < in_.size(); ++i) {
        readers_[i].seek(start);
        load(in_[i], readers_[i], elements_[i], count);
      }
      for (std::size_t i = 0; i < body_.code.size(); ++i) {
        const ir::Instr& instr = body_.code[i];
        const int operands = ir::arity(instr.prim);   // a number that is no operand may be anything
        const auto operand = [&](int k, std::uint16_t value) -> const Elements& { return elements_[k < operands ? value : 0]; };
        apply(instr, operand(0, instr.a), operand(1, instr.b), operand(2, instr.c), elements_[in_.size() + i], count);
      }
      for (std::size_t i = 0; i < out_.size(); ++i) {
        const Elements& value = elements_[body_.outputs[i]];
        const bool one = body_.reduced_rank > 0 && value.narrow && trailing_ones(out_[i].shape, body_.reduced_rank);
        writers_[i].seek(start);
        store(value, writers_[i], out_[i], one ? 1 : count);
      }
    }
  }

 private:
  // A step of the walk is a row of the reduced dims. An empty row still has one result, so it is walked as a hollow row of one.
  void split_rows() {
    step_ = kChunk;
    if (body_.reduced_rank > 0) {
      const auto trailing = std::span(space_).last(static_cast<std::size_t>(body_.reduced_rank));
      hollow_ = element_count(trailing) == 0;
      if (hollow_) std::fill(trailing.begin(), trailing.end(), 1);
      step_ = element_count(trailing);
    }
    steps_ = element_count(space_);
  }

  void make_elements() {
    std::vector<bool> narrow_inputs;
    for (const ir::TensorRef& ref : in_) {
      narrow_inputs.push_back(body_.reduced_rank > 0 && trailing_ones(ref.shape, body_.reduced_rank));
      readers_.push_back(Walk::broadcast(space_, ref.shape));
    }
    for (const ir::TensorRef& ref : out_) writers_.push_back(Walk::broadcast(space_, ref.shape));
    const std::vector<bool> narrow = narrow_values(body_, narrow_inputs);
    elements_.resize(narrow.size());
    for (std::size_t v = 0; v < narrow.size(); ++v) {
      elements_[v].dtype = body_.type_of(static_cast<int>(v));
      elements_[v].narrow = narrow[v];
      elements_[v].resize(std::min(step_, std::max<std::int64_t>(steps_, 1)));
    }
  }

  const ir::Body& body_;
  std::span<const ir::TensorRef> in_, out_;
  Shape space_;
  std::int64_t step_ = 0, steps_ = 0;
  bool hollow_ = false;
  std::vector<Walk> readers_, writers_;
  std::vector<Elements> elements_;
};

}  // namespace

std::vector<bool> narrow_values(const ir::Body& body, const std::vector<bool>& narrow_inputs) {
  std::vector<bool> narrow = narrow_inputs;
  for (const ir::Instr& instr : body.code) {
    const int operands = ir::arity(instr.prim);
    const bool same = (operands < 1 || narrow[instr.a]) && (operands < 2 || narrow[instr.b]) && (operands < 3 || narrow[instr.c]);
    narrow.push_back(ir::is_reduction(instr.prim) || same);
  }
  return narrow;
}

// Whether stretches of the walk write bytes of their own: results that are smaller than the space are written by several.
bool writes_apart(const ir::Body& body, std::span<const ir::TensorRef> out, std::int64_t steps, std::int64_t row) {
  return std::all_of(out.begin(), out.end(), [&](const ir::TensorRef& ref) {
    const bool one_of_row = body.reduced_rank > 0 && trailing_ones(ref.shape, body.reduced_rank);
    return bits(ref.dtype) >= 8 && element_count(ref.shape) * (one_of_row ? row : 1) == steps;
  });
}

void interpret_body(const ir::Body& body, std::span<const ir::TensorRef> in, std::span<const ir::TensorRef> out) {
  Interpreter all(body, in, out);
  constexpr std::int64_t kBytes = 32;   // an element costs as much as many bytes that are only moved
  if (all.steps() <= kChunk || !writes_apart(body, out, all.steps(), all.step())) return all.run(0, all.steps());
  spread_stretches(all.steps(), all.step(), kBytes * all.steps(), [&](std::int64_t begin, std::int64_t end) {
    begin == 0 && end == all.steps() ? all.run(begin, end) : Interpreter(body, in, out).run(begin, end);
  });
}

}  // namespace tenfold::ops
