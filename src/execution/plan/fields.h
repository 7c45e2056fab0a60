// The fields of every structure of a plan, in file order: listed once, for writing and for reading.
// A change here is a change of the format: raise kFormatVersion. The structured bindings are there so that a field which is
// added to a structure and forgotten here does not compile.
#pragma once

#include "ir/brief.h"
#include "plan/archive.h"
#include "plan/plan.h"

namespace tenfold::plan {

inline constexpr std::size_t kMaxDimText = 4096;   // of one expression; bounds the work that a file can ask for

template <class A> void fields(A& a, DType& x) { a.enumeration(x, DType::count_); }
template <class A> void fields(A& a, ir::Prim& x) { a.enumeration(x, ir::Prim::count_); }
template <class A> void fields(A& a, Space& x) { a.enumeration(x, Space::count_); }
template <class A> void fields(A& a, StepKind& x) { a.enumeration(x, StepKind::count_); }
template <class A> void fields(A& a, ir::Origin& x) { a.enumeration(x, ir::Origin::count_); }
template <class A> void fields(A& a, ir::ValueType::Kind& x) { a.enumeration(x, ir::ValueType::Kind::count_); }
// No plan holds blocked channels.
template <class A> void fields(A& a, backends::Layout::Order& x) { a.enumeration(x, backends::Layout::channels_blocked); }
template <class A> void fields(A& a, ir::Rounding& x) { a.enumeration(x, ir::Rounding::count_); }

template <class A>
void fields(A& a, ir::Dim& x) {
  std::string text;
  if constexpr (!A::kReading) {
    text = x.text();
    require(text.size() <= kMaxDimText && ir::Dim::parse(text) == x, ErrorKind::unsupported, "the dimension '", ir::brief(x),
            "' cannot be stored: a name may hold no blanks, commas, parentheses or operators, the whole at most ", kMaxDimText,
            " characters");
  }
  a(text);
  if constexpr (A::kReading) {
    if (text.size() > kMaxDimText) a.refuse("a dimension's text has ", text.size(), " characters");
    x = ir::Dim::parse(text);
  }
}

template <class A>
void fields(A& a, Tensor& x) {
  DType dtype = x.dtype();
  Shape shape = x.shape();
  a(dtype, shape);
  std::vector<std::string> strings;
  if (dtype == DType::string) {
    if constexpr (!A::kReading) strings = x.string_values();
    a.values(strings);
    if constexpr (A::kReading) x = Tensor::strings(std::move(shape), std::move(strings));
  } else {
    const std::int64_t bytes = byte_size(dtype, element_count(shape));
    if constexpr (A::kReading) {
      a.need(static_cast<std::uint64_t>(bytes), 1);
      x = Tensor(dtype, std::move(shape));
      a.raw(x.mutable_raw(), static_cast<std::size_t>(bytes));
    } else {
      check(x.defined(), "an attribute holds an undefined tensor");
      a.raw(x.raw(), static_cast<std::size_t>(bytes));
    }
  }
}

template <class A>
void fields(A& a, RefitWeight& x) {
  auto& [name, dtype, shape, hash, fixed, original] = x;
  a(name, dtype, shape, hash, fixed, original);
}

// The alternatives of the variant keep their numbers: new ones are added at the end.
template <std::size_t I = 0>
ir::Attribute attribute_of_kind(std::size_t kind) {
  if constexpr (I < std::variant_size_v<ir::Attribute>) {
    return kind == I ? ir::Attribute(std::in_place_index<I>) : attribute_of_kind<I + 1>(kind);
  } else {
    fail(ErrorKind::plan_refused, cat("unknown kind of attribute: ", kind));
  }
}
template <class A>
void fields(A& a, ir::Attribute& x) {
  auto kind = static_cast<std::uint8_t>(x.index());
  a(kind);
  if constexpr (A::kReading) x = attribute_of_kind(kind);
  const auto one = [&](auto& value) {
    using T = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::string>) a.bytes_of(value);
    else if constexpr (std::is_same_v<T, std::vector<std::string>>) a.values(value);
    else a(value);
  };
  std::visit(one, x);
}
template <class A>
void fields(A& a, ir::Attributes& x) {
  std::vector<std::pair<std::string, ir::Attribute>> list(x.begin(), x.end());
  a(list);
  if constexpr (A::kReading)
    for (auto& [name, value] : list) {
      if (x.has(name)) a.refuse("attribute '", name, "' is given twice");
      x.set(name, std::move(value));
    }
}
template <class A> void fields(A& a, std::pair<std::string, ir::Attribute>& x) { a(x.first, x.second); }

template <class A>
void fields(A& a, ir::Instr& x) {
  auto& [prim, dtype, first, second, third, imm] = x;
  a(prim, dtype, first, second, third, imm);
}
template <class A>
void fields(A& a, ir::Body& x) {
  auto& [inputs, code, outputs, reduced_rank] = x;
  a(inputs, code, outputs, reduced_rank);
}
template <class A>
void fields(A& a, ir::Numerics& x) {
  auto& [round_to, winograd, strassen, fast_exp, exact, type] = x;   // the last two are for passes: no step has them
  static_cast<void>(exact), static_cast<void>(type);
  a(round_to, winograd, strassen, fast_exp);
}
template <class A>
void fields(A& a, ir::TensorType& x) {
  auto& [dtype, dims] = x;
  a(dtype, dims);
}
template <class A>
void fields(A& a, ir::ValueType& x) {
  auto& [kind, key, inner, tensor, ranked, unfilled] = x;
  a(kind, key);
  for (ir::ValueType::Layer& layer : inner) a(layer.kind, layer.key);
  a(tensor, ranked, unfilled);
  if constexpr (A::kReading) {   // layers stand side by side, from the outermost one on
    bool ended = kind == ir::ValueType::Kind::tensor;
    for (const ir::ValueType::Layer& layer : inner) {
      if (ended && layer.kind != ir::ValueType::Kind::tensor) a.refuse("a type has a layer inside a tensor");
      ended = ended || layer.kind == ir::ValueType::Kind::tensor;
    }
  }
}
template <class A>
void fields(A& a, ir::Symbol& x) {
  auto& [name, lower, upper, origin] = x;
  a(name, lower, upper, origin);
}
template <class A>
void fields(A& a, backends::Layout& x) {
  auto& [order, block] = x;
  a(order, block);
}
template <class A>
void fields(A& a, backends::DeviceInfo& x) {
  auto& [kind, name, features, arch, ordinal, libraries, l1_bytes, l2_bytes, l3_bytes, opened] = x;
  static_cast<void>(ordinal), static_cast<void>(opened);   // say where it runs, not what it is built for
  a(kind, name, features, arch, libraries, l1_bytes, l2_bytes, l3_bytes);
}

// Labels, sorted by their keys.
template <class A> void fields(A& a, std::pair<std::string, std::string>& x) { a(x.first, x.second); }

template <class A>
void fields(A& a, backends::Clock& x) {
  auto& [of, khz] = x;
  a(of, khz);
}
template <class A>
void fields(A& a, Built& x) {
  auto& [model_hash, options, clocks] = x;
  a(model_hash, options, clocks);
}

template <class A>
void fields(A& a, Address& x) {
  auto& [space, index, offset] = x;
  a(space, index, offset);
}
template <class A>
void fields(A& a, Operand& x) {
  auto& [at, dtype, dims, strides, layout, dense, constant, packed, name] = x;
  a(at, dtype, dims, strides, layout, dense, constant, packed, name);
}
template <class A>
void fields(A& a, Segment& x) {
  auto& [first, count] = x;
  a(first, count);
}
template <class A>
void fields(A& a, Range& x) {
  auto& [symbol, min, opt, max] = x;
  a(symbol, min, opt, max);
}
template <class A>
void fields(A& a, Binding& x) {
  auto& [name, type, is_input, default_constant] = x;
  a(name, type, is_input, default_constant);
}
template <class A>
void fields(A& a, StatePair& x) {
  auto& [input, output] = x;
  a(input, output);
}
template <class A>
void fields(A& a, Constant& x) {
  auto& [name, offset, bytes, hash] = x;
  a(name, offset, bytes, hash);
}

template <class A>
void fields(A& a, Step& x) {
  auto& [kind, name, op, attributes, numerics, has_body, body, anchor_inputs, tactic, tactic_version, config, in, out, programs,
         workspace_offset, workspace_bytes, workspace_dynamic, defines] = x;
  a(kind, name, op, attributes, numerics, has_body);
  if (has_body) a(body);
  a(anchor_inputs, tactic, tactic_version, config, in, out, programs, workspace_offset, workspace_bytes, workspace_dynamic, defines);
}
template <class A>
void fields(A& a, Program& x) {
  const typename A::Nested nested(a);
  auto& [box, symbols, dims, grown, objects, inputs, outputs, steps, precomputed, rows_input, rows_axis, segments, arena_bytes,
         arena_live_bytes] = x;
  a(box, symbols, dims, grown, objects, inputs, outputs, steps, precomputed, rows_input, rows_axis, segments, arena_bytes,
    arena_live_bytes);
}
template <class A>
void fields(A& a, Plan& x) {
  auto& [device, needs, keeps_denormals, model_name, builder, bindings, states, constants, literals, programs, weights_owner, weights,
         weights_bytes, portable, labels, names, code, refit, kept, built, replaced] = x;
  a(device, needs, keeps_denormals, model_name, builder, bindings, states, constants, literals, programs);
  // These have sections of their own.
  (void)weights_owner, (void)weights, (void)weights_bytes, (void)portable, (void)labels, (void)names, (void)code, (void)refit,
      (void)kept, (void)built, (void)replaced;
}

}  // namespace tenfold::plan
