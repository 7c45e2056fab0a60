#include "text/decoders/onnx/bindings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/decoders/onnx/walk.h"
#include "text/fail.h"

namespace tenfold::decoders::onnx {

using tokenizing::fail;

namespace {

struct Known {
  const char* name;
  Role role;
  int min_rank, max_rank;
};
constexpr std::array kKnown{Known{"input_ids", Role::ids, 2, 2},           Known{"attention_mask", Role::mask, 2, 2},
                            Known{"position_ids", Role::positions, 2, 2},  Known{"cache_position", Role::places, 1, 1},
                            Known{"seqlens_k", Role::last_places, 1, 2},   Known{"total_sequence_length", Role::longest, 0, 1},
                            Known{"total_seq_len", Role::longest, 0, 1},   Known{"past_sequence_length", Role::before, 0, 1},
                            Known{"past_seq_len", Role::before, 0, 1}};

// What this form needs of a past: the value that the node reads may be the past itself, or the past with room behind it.
bool reads(const Network& net, NetworkTensor value, NetworkTensor past, bool may_pad) {
  while (value.defined() && !same(value, past)) {
    const auto node = maker(net, value);
    if (!node || (node->op != "Identity" && !(may_pad && node->op == "Pad"))) return false;
    value = node->inputs[0];
  }
  return value.defined();
}

std::int64_t extent(const Network& net, NetworkTensor value, std::size_t axis) {
  const std::vector<NetworkDim> dims = net.dims(value);
  return axis < dims.size() ? dims[axis].extent : -1;
}

// Whether a text attribute has its usual value: other modes of scattering write elsewhere, or add.
bool is_usual(const NetworkNodeInfo& node, const char* attribute, const char* usual) {
  const auto at = node.attributes.find(attribute);
  const auto* text = at == node.attributes.end() ? nullptr : std::get_if<std::string>(&at->second);
  return !text || *text == usual;
}

// What says where rows are written; nothing where that is an input, for its caller decides.
NetworkTensor computed_places(const Network& net, NetworkTensor operand) {
  NetworkTensor value = operand;
  for (auto node = maker(net, value); node && (node->op == "Cast" || node->op == "Identity"); node = maker(net, value))
    value = node->inputs[0];
  return net.producer(value).defined() || net.constant_value(value) ? operand : NetworkTensor{};
}

// Fills form, places and rows if `node` continues `past` as its result `present`.
bool continues(const Network& net, const NetworkNodeInfo& node, Cache& cache) {
  const auto& in = node.inputs;
  if (node.op == "Concat" && in.size() == 2 && reads(net, in[0], cache.past, false) && axis_of(net, node, cache.past, 0) == 2) {
    cache.form = Form::concat, cache.rows = in[1];
    return true;
  }
  if (!is_usual(node, "mode", "linear") || !is_usual(node, "reduction", "none")) return false;
  const bool has_places = in.size() > 2 && in[2].defined();
  if (node.op == "TensorScatter" && has_places && reads(net, in[0], cache.past, true) && axis_of(net, node, cache.past, -2) == 2) {
    cache.form = Form::scatter, cache.places = computed_places(net, in[2]), cache.rows = in[1];
    return true;
  }
  if (node.op == "ScatterElements" && reads(net, in[0], cache.past, false) && axis_of(net, node, cache.past, 0) == 2) {
    cache.form = Form::scatter, cache.places = computed_places(net, in[1]), cache.rows = in[2];
    return true;
  }
  if (node.op == "Attention" && node.outputs.size() > 2 && in.size() > 5)
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (same(node.outputs[i + 1], cache.present) && in[i + 4].defined() && reads(net, in[i + 4], cache.past, false)) {
        cache.form = Form::attention, cache.rows = in[i + 1];
        return true;
      }
  return false;
}

// The value behind copies that exporters leave.
NetworkTensor original(const Network& net, NetworkTensor value) {
  for (auto node = maker(net, value); node && node->op == "Identity"; node = maker(net, value)) value = node->inputs[0];
  return value;
}

bool is_past(const Network& net, NetworkTensor value) { return is_float(net.dtype(value)) && rank(net, value) == 4; }

[[noreturn]] void no_pair(const Network& net, NetworkTensor past) {
  std::string readers;
  for (const NetworkNodeRef user : net.users(past))
    if (const NetworkNodeInfo node = net.node(user); node.op != "Shape") readers += (readers.empty() ? "" : ", ") + shown(node);
  fail(ErrorKind::unsupported,
       "the input '" + net.name(past) + "' " + net.describe(past) + " is read by " + (readers.empty() ? "no node" : readers) +
           ", but no output continues it along axis 2 by Concat, TensorScatter, ScatterElements, Attention, MultiHeadAttention or "
           "GroupQueryAttention; a cache of [batch, heads, tokens, size] that becomes a 'present' output was expected");
}

void find_heads(const Network& net, Cache& cache) {
  const NetworkTensor from = cache.form == Form::attention ? cache.past : cache.rows;
  if (rank(net, from) != 4) fail(ErrorKind::unsupported, "what is added to '" + cache.past_name + "' has no known rank of 4");
  cache.heads = extent(net, from, 1), cache.size = extent(net, from, 3), cache.length = extent(net, cache.past, 2);
  if (cache.heads < 0) cache.heads = extent(net, cache.past, 1);
  if (cache.size < 0) cache.size = extent(net, cache.past, 3);
  if (cache.heads < 1 || cache.size < 1)
    fail(ErrorKind::unsupported, "heads and their size are not constant in '" + cache.past_name + "' " + net.describe(from));
  for (const auto& [axis, found] : {std::pair{std::size_t{1}, cache.heads}, std::pair{std::size_t{3}, cache.size}})
    if (const std::int64_t given = extent(net, cache.past, axis); given >= 0 && given != found)
      fail(ErrorKind::invalid_model, "'" + cache.past_name + "' is " + net.describe(cache.past) + ", but what is added to it has " +
                                         std::to_string(found) + " on axis " + std::to_string(axis));
}

Cache pair_of(const Network& net, NetworkTensor past, const Network::Tensors& outputs) {
  for (const NetworkTensor output : outputs) {
    Cache cache{.past = past, .present = original(net, output), .past_name = net.name(past), .present_name = net.name(output)};
    cache.node = net.producer(cache.present);
    if (!cache.node.defined() || !continues(net, net.node(cache.node), cache)) continue;
    find_heads(net, cache);
    return cache;
  }
  no_pair(net, past);
}

void classify(const Network& net, NetworkTensor input, const Network::Tensors& outputs, Bindings& to) {
  const std::string name = net.name(input);
  for (const Known& known : kKnown)
    if (name == known.name) {
      const bool counts = is_integer(net.dtype(input)) || net.dtype(input) == DType::boolean;
      if (const int found = rank(net, input); !counts || found < known.min_rank || found > known.max_rank)
        fail(ErrorKind::unsupported, "the input '" + name + "' is " + net.describe(input) + "; integers of rank " +
                                         std::to_string(known.min_rank) + " were expected");
      return to.told.push_back({name, input, known.role});
    }
  if (name == "inputs_embeds")
    fail(ErrorKind::unsupported, "it takes 'inputs_embeds', not tokens; export the model with input_ids");
  if (name == "use_cache_branch")
    fail(ErrorKind::unsupported, "it has two branches, which 'use_cache_branch' chooses; export it again with a newer optimum, whose "
                                 "model.onnx has one");
  if (is_past(net, input))
    to.caches.push_back(pair_of(net, input, outputs));
  else if (is_float(net.dtype(input)) && rank(net, input) == 5)
    fail(ErrorKind::unsupported, "the input '" + name + "' " + net.describe(input) +
                                     " has keys and values in one tensor; two of [batch, heads, tokens, size] are supported");
  else
    to.unknown.push_back(name);
}

// The one that is no present: "logits", or the only one.
void find_logits(const Network& net, const Network::Tensors& outputs, Bindings& to) {
  std::vector<std::string> others;
  for (const NetworkTensor output : outputs) {
    const std::string name = net.name(output);
    if (std::none_of(to.caches.begin(), to.caches.end(), [&](const Cache& c) { return c.present_name == name; })) others.push_back(name);
  }
  const auto logits = std::find(others.begin(), others.end(), "logits");
  if (logits == others.end() && others.size() != 1)
    fail(ErrorKind::invalid_model, "there is no output 'logits'; beside its caches it has " + (others.empty() ? "none" : listed(others)));
  to.logits = logits == others.end() ? others[0] : *logits;
  for (const std::string& name : others)
    if (name.starts_with("present"))
      fail(ErrorKind::invalid_model, "the output '" + name + "' continues none of the inputs; each past and its present are a pair");
  for (const std::string& name : others)
    if (name != to.logits) to.ignored.push_back(name);
}

bool has(const Bindings& bindings, Role role) {
  return std::any_of(bindings.told.begin(), bindings.told.end(), [&](const Told& one) { return one.role == role; });
}

}  // namespace

Bindings find_bindings(const Network& net) {
  Bindings bindings;
  const Network::Tensors inputs = net.inputs(), outputs = net.outputs();
  for (const NetworkTensor input : inputs) classify(net, input, outputs, bindings);
  if (!has(bindings, Role::ids)) {
    std::vector<std::string> names;
    for (const NetworkTensor input : inputs) names.push_back(net.name(input));
    fail(ErrorKind::invalid_model, "there is no input 'input_ids'; the file has " + listed(names) + ", which is no decoder's");
  }
  if (bindings.caches.empty())
    fail(ErrorKind::invalid_model, "no input is a cache: a decoder takes 'past_key_values.N.key' and '.value' of [batch, heads, tokens, "
                                   "size]; export it with its past (optimum's task text-generation-with-past)");
  find_logits(net, outputs, bindings);
  return bindings;
}

}  // namespace tenfold::decoders::onnx
