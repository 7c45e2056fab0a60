// Sequence (internal, of import alone): tensors in a list. Models build sequences to take them apart again: import follows them, so that
// no graph holds one. A sequence that a loop carries or a branch reads, or an index that the data decide, cannot be followed and is
// refused.
#include "ops/onnx_node.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  ValueType type{.kind = ValueType::Kind::sequence};
  if (call.has(0)) type.tensor = call.in(0);
  call.out(0, type);
}

void reference(Call& call) { fail(ErrorKind::unsupported, cat("'", call.node->name, "' makes a sequence: plans hold tensors only")); }

// The elements of a sequence.
std::vector<Value*> elements(OnnxImport& call, int i) {
  const Value* value = call.need(i);
  while (value->producer && value->producer->op() == "Identity") value = value->producer->in(0);
  require(value->producer && value->producer->op() == "Sequence", ErrorKind::unsupported,
          "what the sequence holds is not known when the model is read: sequences may not be inputs, nor enter loops or branches of an If");
  return value->producer->inputs;
}

// A number that is known now; `otherwise` where the operand is left out.
std::int64_t number(OnnxImport& call, int i, std::int64_t otherwise) {
  if (!call.in(i)) return otherwise;
  const auto& contents = call.in(i)->contents;
  require(contents && contents->size() == 1 && (*contents)[0].is_constant(), ErrorKind::unsupported,
          "operand ", i, " must be known when the model is read");
  return (*contents)[0].constant();
}

// A place among `size`, from behind if negative.
std::size_t place(OnnxImport& call, int i, std::int64_t size, std::int64_t otherwise) {
  const std::int64_t given = number(call, i, otherwise), at = given < 0 ? given + size : given;
  require_sound(at >= 0 && at < size, "place ", given, " in a sequence of ", size);
  return static_cast<std::size_t>(at);
}

std::vector<Value*> construct(OnnxImport& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) call.need(static_cast<int>(i));
  return call.add("Sequence", call.inputs, {});
}
std::vector<Value*> empty(OnnxImport& call) { return call.add("Sequence", {}, {}); }

std::vector<Value*> at(OnnxImport& call) {
  const std::vector<Value*> all = elements(call, 0);
  call.need(1);
  return {all[place(call, 1, static_cast<std::int64_t>(all.size()), 0)]};
}

std::vector<Value*> length(OnnxImport& call) { return {call.scalar(DType::i64, static_cast<double>(elements(call, 0).size()))}; }

std::vector<Value*> insert(OnnxImport& call) {
  std::vector<Value*> all = elements(call, 0);
  const auto size = static_cast<std::int64_t>(all.size());
  const std::int64_t given = number(call, 2, size), before = given < 0 ? given + size : given;
  require_sound(before >= 0 && before <= size, "place ", given, " in a sequence of ", size);
  all.insert(all.begin() + before, call.need(1));
  return call.add("Sequence", all, {});
}

std::vector<Value*> erase(OnnxImport& call) {
  std::vector<Value*> all = elements(call, 0);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(place(call, 1, static_cast<std::int64_t>(all.size()), -1)));
  return call.add("Sequence", all, {});
}

std::vector<Value*> concat(OnnxImport& call) {
  std::vector<Value*> parts = elements(call, 0);
  require_sound(!parts.empty(), "an empty sequence cannot be concatenated");
  const std::int64_t axis = call.attributes.integer("axis");
  if (call.attributes.integer("new_axis", 0) != 0)
    for (Value*& part : parts) part = call.add("Unsqueeze", {part, call.ints({axis})}, {})[0];
  return call.add("Concat", parts, {{"axis", axis}});
}

// Extents of the parts: as given, or equal ones (the last may be smaller), or 1 each.
Ints extents_of_parts(OnnxImport& call, Dim extent) {
  const Value* split = call.in(1);
  if (split && split->type.ranked && split->rank() == 1) {
    require(split->contents && is_constant(*split->contents), ErrorKind::unsupported,
            "the extents of parts must be known when the model is read");
    return constants(*split->contents);
  }
  const std::int64_t each = number(call, 1, 1);
  require(extent.is_constant(), ErrorKind::unsupported, "an axis of ", extent.text(),
          " elements cannot be split into a known number of parts");
  require_sound(each > 0 && extent.constant() / each < 4096, "an axis of ", extent.text(), " split into parts of ", each);
  Ints parts;
  for (std::int64_t rest = extent.constant(); rest > 0; rest -= each) parts.push_back(std::min(each, rest));
  return parts;
}

std::vector<Value*> split(OnnxImport& call) {
  require(call.need(0)->type.ranked, ErrorKind::unsupported, "the rank of what is to be split is not known");
  const std::int64_t given = call.attributes.integer("axis", 0), axis = given < 0 ? given + call.in(0)->rank() : given;
  require_sound(axis >= 0 && axis < call.in(0)->rank(), "axis ", given, " of a tensor of rank ", call.in(0)->rank());
  const Ints extents = extents_of_parts(call, call.in(0)->dims()[static_cast<std::size_t>(axis)]);
  if (extents.empty()) return empty(call);
  std::vector<Value*> parts = call.add("Split", {call.in(0), call.ints(extents)}, {{"axis", axis}}, static_cast<int>(extents.size()));
  if (!call.in(1) && call.attributes.integer("keepdims", 1) == 0)
    for (Value*& part : parts) part = call.add("Squeeze", {part, call.ints({axis})}, {})[0];
  return call.add("Sequence", parts, {});
}

}  // namespace

OpDef op_sequence() {
  return {.name = "Sequence",
          .min_inputs = 0,
          .max_inputs = -1,
          .infer = infer,
          .reference = reference,
          .from_onnx = {{"SequenceConstruct", 11, construct},
                        {"SequenceEmpty", 11, empty},
                        {"SequenceAt", 11, at},
                        {"SequenceLength", 11, length},
                        {"SequenceInsert", 11, insert},
                        {"SequenceErase", 11, erase},
                        {"ConcatFromSequence", 11, concat},
                        {"SplitToSequence", 11, split}}};
}

}  // namespace tenfold::ir
