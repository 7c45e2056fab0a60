#include "text/decoders/onnx/sizes.h"

#include <algorithm>

#include "tenfold/device.h"
#include "text/decoders/onnx/last_rows.h"
#include "text/decoders/onnx/walk.h"
#include "text/fail.h"

namespace tenfold::decoders::onnx {

using tokenizing::fail;

namespace {

constexpr std::int64_t kUsualLength = 4096;   // at most, where nobody asks for more

bool is_position(const Network& net, const Bindings& bindings, const Dependence& dependence, NetworkTensor value) {
  if (dependence.of_lengths(value)) return rank(net, value) > 0;
  for (auto node = maker(net, value); node && (node->op == "Cast" || node->op == "Identity"); node = maker(net, value))
    value = node->inputs[0];
  return std::any_of(bindings.told.begin(), bindings.told.end(),
                     [&](const Told& one) { return one.role == Role::positions && same(one.value, value); });
}

// The fewest rows of a constant table that is read by positions, or the length of caches that have one; 0: there is none.
struct Table { std::int64_t rows = 0; std::string name; };
Table shortest_table(const Network& net, const Bindings& bindings, const Dependence& dependence) {
  Table found;
  if (const Cache& cache = bindings.caches.front(); cache.length > 0) found = {cache.length, cache.past_name};
  for (const NetworkNodeRef ref : net.nodes()) {
    const NetworkNodeInfo node = net.node(ref);
    const bool turns = node.op == "RotaryEmbedding" && node.inputs.size() > 3 && node.inputs[3].defined();
    if (!turns && (node.op != "Gather" || integer(node, "axis", 0) != 0)) continue;
    const NetworkTensor table = node.inputs[turns ? 1 : 0], index = node.inputs[turns ? 3 : 1];
    if (!is_position(net, bindings, dependence, index) || !net.constant_value(table)) continue;
    if (rank(net, table) != 2 || !is_float(net.dtype(table))) continue;
    if (const std::int64_t rows = net.dims(table)[0].extent; found.rows == 0 || rows < found.rows) found = {rows, net.name(table)};
  }
  return found;
}

std::int64_t capacity_of(const Table& table, const Config& config, const DecoderOptions& options) {
  std::int64_t places = config.places;
  if (table.rows > 0 && (places == 0 || table.rows < places)) places = table.rows;
  const std::string why = places == table.rows && places > 0 ? " ('" + table.name + "' has so many)" : "";
  if (options.max_length < 0 || (places > 0 && options.max_length > places))
    fail(ErrorKind::invalid_argument, "max_length is " + std::to_string(options.max_length) + ", but the model has places for " +
                                          std::to_string(places) + " tokens" + why + "; give 1 to so many, or 0");
  if (options.max_length > 0) return options.max_length;
  return places > 0 ? std::min(places, kUsualLength) : kUsualLength;
}

// CPUs compute in f32, and would widen a cache of f16 in every step.
DType type_on(const std::string& device, DType type) { return type == DType::f16 && !is_gpu(device) ? DType::f32 : type; }

std::string heads(const Network& net, const Cache& cache) {
  return std::to_string(cache.heads) + " heads of " + std::to_string(cache.size) + " in " + std::string(name(net.dtype(cache.past)));
}

}  // namespace

CacheSizes sizes_of(const Network& net, const Bindings& bindings, const Dependence& dependence, const Config& config,
                    const DecoderOptions& options) {
  const std::vector<Cache>& caches = bindings.caches;
  if (caches.size() % 2 != 0)
    fail(ErrorKind::invalid_model, "it has " + std::to_string(caches.size()) + " caches, the last one '" + caches.back().past_name +
                                       "'; keys and values of each layer were expected");
  const Cache& first = caches.front();
  for (const Cache& one : caches)
    if (one.heads != first.heads || one.size != first.size || net.dtype(one.past) != net.dtype(first.past))
      fail(ErrorKind::unsupported, "'" + one.past_name + "' has " + heads(net, one) + ", but '" + first.past_name + "' " +
                                       heads(net, first) + "; caches of one kind are supported");
  for (const Cache& one : caches)
    if (one.length != first.length)
      fail(ErrorKind::unsupported, "'" + one.past_name + "' has places for " + std::to_string(one.length) + " tokens, '" + first.past_name +
                                       "' for " + std::to_string(first.length) + "; caches of one length are supported");
  const auto layers = static_cast<std::int64_t>(caches.size() / 2);
  const auto agree = [&](std::int64_t given, std::int64_t found, const char* what) {
    if (given > 0 && given != found)
      fail(ErrorKind::invalid_model, "the configuration beside it has " + std::to_string(given) + " " + what + ", but the file has " +
                                         std::to_string(found) + "; they are of different models");
  };
  agree(config.layers, layers, "layers"), agree(config.heads, first.heads, "heads of keys and values");
  agree(config.size, first.size, "elements in a head");
  const CacheSizes sizes{.layers = layers,
                         .heads = first.heads,
                         .size = first.size,
                         .capacity = capacity_of(shortest_table(net, bindings, dependence), config, options),
                         .type = options.kv_cache_dtype.empty() ? type_on(options.build.device, net.dtype(first.past)) : DType::i8};
  static_cast<void>(sizes.bytes());  // refuses what no memory holds, before some of it is made
  return sizes;
}

void check_batch(const Network& net, const Bindings& bindings, const DecoderOptions& options) {
  for (const Told& one : bindings.told) {
    if (one.role != Role::ids) continue;
    const std::vector<NetworkDim> dims = net.dims(one.value);
    const std::string what = "'" + one.name + "' is " + net.describe(one.value) + ": the file is made for ";
    if (dims[1].extent >= 0)
      fail(ErrorKind::unsupported,
           what + "runs of " + std::to_string(dims[1].extent) + " tokens; export it with a dynamic sequence length");
    if (dims[0].extent >= 0 && dims[0].extent != options.max_batch)
      fail(ErrorKind::unsupported, what + std::to_string(dims[0].extent) + " sequences at once, but max_batch is " +
                                       std::to_string(options.max_batch) + "; export it with a dynamic batch, or set max_batch to that");
    if (dims[0].extent > 1)
      fail(ErrorKind::unsupported,
           what + std::to_string(dims[0].extent) + " sequences at once; export it with a dynamic batch, or for one");
  }
}

std::int64_t vocabulary_of(const Network& net, const Bindings& bindings, const DecoderOptions& options) {
  for (const NetworkTensor output : net.outputs()) {
    if (net.name(output) != bindings.logits) continue;
    const std::vector<NetworkDim> dims = rank(net, output) == 3 ? net.dims(output) : std::vector<NetworkDim>{};
    if (dims.empty() || dims[2].extent < 1 || !is_float(net.dtype(output)))
      fail(ErrorKind::unsupported, "'" + bindings.logits + "' is " + net.describe(output) +
                                       "; numbers of [batch, tokens, vocabulary] with a constant vocabulary were expected");
    if (is_of_last_row(net, output) && (options.max_batch > 1 || options.speculate > 0))
      fail(ErrorKind::unsupported, "'" + bindings.logits + "' is " + net.describe(output) + ", of the last row alone, which is a different "
                                   "token in each sequence, and no check of guesses: set max_batch to 1 and speculate to 0, or export "
                                   "logits of all tokens");
    return dims[2].extent;
  }
  return 0;
}

}  // namespace tenfold::decoders::onnx
