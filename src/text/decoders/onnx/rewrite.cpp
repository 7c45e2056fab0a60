#include "text/decoders/onnx/rewrite.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "text/decoders/onnx/attention.h"
#include "text/decoders/onnx/constants.h"
#include "text/decoders/onnx/last_rows.h"
#include "text/decoders/onnx/places.h"
#include "text/decoders/onnx/probe.h"
#include "text/decoders/onnx/sizes.h"
#include "text/decoders/onnx/walk.h"
#include "text/fail.h"

namespace tenfold::decoders::onnx {

using tokenizing::fail;
using transformers::Blocks;

namespace {

class Rewriter {
 public:
  Rewriter(const Place& place, const Config& config, const DecoderOptions& options)
      : options_(options), net_(Network::read(place.file, options.build)), bindings_(find_bindings(net_)) {
    check_batch(net_, bindings_, options);
    const Dependence dependence(net_, bindings_);
    borders_ = dependence.borders(), rows_ = dependence.rows();
    sizes_ = sizes_of(net_, bindings_, dependence, config, options);
    samples_ = probe(place.file, options.build, probed_lengths(sizes_.capacity));
    const std::size_t places = borders_.size() + rows_.size();
    check_places(net_, bindings_, std::span(samples_).subspan(places));
    samples_.resize(places);
    for (const Samples& one : samples_) meanings_.push_back(understand(one));
    vocabulary_ = vocabulary_of(net_, bindings_, options);
  }

  Rewritten made() {
    const NetworkTensor logits = outputs_removed();
    const Blocks blocks(net_, weights_);
    const NetworkTensor ids = net_.input("ids", DType::i32, {"batch", "tokens"});
    positions_ = net_.input("positions", DType::i32, {"batch", "tokens"});
    const NetworkTensor last = net_.input("last", DType::i32, {options_.speculate > 0 ? "rows" : "batch"});
    CachedAttention cached(blocks, sizes_, positions_);
    Attentions attentions(blocks, cached);
    set_lengths(blocks, cached, ids);
    replace_borders(attentions);
    for (std::size_t i = 0; i < bindings_.caches.size(); ++i) continue_in_place(attentions, cached, blocks, i);
    attentions.replace_nodes();
    net_.mark_output(last_rows(blocks, logits, last, vocabulary_), "logits");
    remove_inputs();
    report_copies();
    return {std::move(net_), sizes_, vocabulary_, exact_places_};
  }

 private:
  // All, so that their names are free. Returns the value of the logits.
  NetworkTensor outputs_removed() {
    NetworkTensor logits;
    for (const NetworkTensor output : net_.outputs()) {
      if (net_.name(output) == bindings_.logits) logits = output;
      net_.remove_output(net_.name(output));
    }
    for (const NetworkTensor input : net_.inputs()) net_.rename(input, "file's " + net_.name(input));
    return logits;
  }

  void set_lengths(const Blocks& b, const CachedAttention& cached, NetworkTensor ids) {
    tokens_ = b.length(ids);
    before_ = net_.elementwise(Elementwise::sub, cached.total(), tokens_);
    const NetworkTensor ends = b.sum(cached.start(), tokens_);   // i64[batch]: behind each sequence's last token of this run
    for (const Told& one : bindings_.told) {
      NetworkTensor value;
      switch (one.role) {
        case Role::ids: value = ids; break;
        case Role::positions: value = positions_; break;
        case Role::mask: {
          const NetworkTensor end = net_.add_node("Unsqueeze", {ends, b.integers({1})})[0];
          value = net_.elementwise(Elementwise::less, net_.cast(cached.places(), DType::i64), end);
          break;
        }
        case Role::places: value = net_.add_node("Slice", {cached.places(), before_, cached.total(), b.integers({0})})[0]; break;
        case Role::last_places: value = net_.elementwise(Elementwise::sub, ends, b.integers({1})); break;
        case Role::longest: value = cached.total(); break;
        case Role::before: value = before_; break;
      }
      if (rank(net_, one.value) == 0) value = net_.add_node("Squeeze", {value})[0];
      else if (one.role == Role::last_places && rank(net_, one.value) == 2) value = net_.add_node("Unsqueeze", {value, b.integers({1})})[0];
      const DType type = net_.dtype(one.value);
      net_.replace(one.value, net_.dtype(value) == type ? value : net_.cast(value, type));
    }
  }

  void replace_borders(Attentions& attentions) {
    std::vector<std::string> unknown;
    for (std::size_t i = 0; i < borders_.size(); ++i) {
      const Border& border = borders_[i];
      const Found& found = meanings_[i];
      const DType type = net_.dtype(border.value);
      const bool flat = rank(net_, border.value) <= 2;   // else [batch, tokens] would meet other axes
      if (found.meaning == Meaning::positions && flat) net_.replace(border.value, positions_in(type));
      if (found.meaning == Meaning::any_length) replace_by_constant(net_, border.value, samples_[i]);
      if (found.hides) net_.replace(border.value, attentions.mask(found.window, type, found.meaning == Meaning::visible));
      const bool unclear = found.meaning == Meaning::unknown || (found.meaning == Meaning::positions && !flat);
      if (unclear && !made_of_positions(border.value))
        unknown.push_back("operand " + std::to_string(border.operand) + " of " + shown(net_.node(border.reader)));
    }
    exact_places_ = !unknown.empty();
    if (exact_places_) report_unknown(unknown);
  }

  NetworkTensor positions_in(DType type) { return type == DType::i32 ? positions_ : net_.cast(positions_, type); }

  // Makes a value of each sequence's positions where the file makes it of positions that follow from the cache's length.
  bool made_of_positions(NetworkTensor value) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (meanings_[borders_.size() + i].meaning == Meaning::positions && follows(net_, value, rows_[i]))
        net_.replace(rows_[i], positions_in(net_.dtype(rows_[i])));
    return follows(net_, value, positions_) && rank(net_, value) > 1 && net_.dims(value)[0].name == "batch";
  }

  // What does not differ by sequence is only right for one of them.
  void report_unknown(const std::vector<std::string>& unknown) const {
    const std::string what =
        listed(unknown) + " depends on the tokens before, and is neither positions nor a causal mask that was recognized";
    if (options_.max_batch > 1)
      fail(ErrorKind::unsupported, what + "; sequences of different lengths cannot run together: set max_batch to 1");
    if (options_.build.log)
      options_.build.log(Severity::info, what + "; it is computed as the file has it, for one sequence at a time");
  }

  void continue_in_place(Attentions& attentions, CachedAttention& cached, const Blocks& b, std::size_t i) {
    const Cache& cache = bindings_.caches[i];
    const auto layer = static_cast<std::int64_t>(i / 2);
    const NetworkTensor rows = cache.form == Form::attention ? attentions.apart(cache.rows, cache.heads, cache.size) : cache.rows;
    const DType type = net_.dtype(cache.present);
    const NetworkTensor wide = cached.continued(layer, i % 2 == 1, rows), all = net_.dtype(wide) == type ? wide : net_.cast(wide, type);
    attentions.converts(all, wide);
    wide_.push_back(net_.name(wide));
    if (net_.dtype(wide) != type) narrow_.push_back(net_.name(all));
    if (cache.form == Form::attention)
      attentions.reads(cache.node, same(net_.node(cache.node).outputs[1], cache.present), wide);
    net_.replace(cache.present, all);
    // Some read the past's extents: the tokens before, or, of a cache of fixed length, the places for keys.
    const NetworkTensor past = net_.find(past_name(layer, i % 2 == 1)), length = cache.length < 0 ? before_ : cached.total();
    const NetworkTensor before = net_.add_node("Slice", {past, b.integers({0}), length, b.integers({2})})[0];
    net_.replace(cache.past, sizes_.type == type ? before : net_.cast(before, type));
  }

  // What is not read where it lies.
  void report_copies() const {
    const auto is_there = [&](const std::string& name) { return net_.find(name).defined(); };
    if (!options_.build.log) return;
    if (std::any_of(narrow_.begin(), narrow_.end(), is_there))
      options_.build.log(Severity::info, "attention is written out in f16: each step converts the keys and values that it reads; a file "
                                         "in f32 needs no conversion");
    std::vector<std::string> copies;
    for (const std::string& name : wide_)
      for (const NetworkNodeRef user : is_there(name) ? net_.users(net_.find(name)) : std::vector<NetworkNodeRef>{})
        if (const NetworkNodeInfo node = net_.node(user); node.op == "Pad" || node.op == "Concat" || node.op == "Tile")
          copies.push_back(shown(node));
    if (!copies.empty()) options_.build.log(Severity::info, listed(copies) + " copies the keys and values that it reads in each step");
  }

  void remove_inputs() {
    net_.remove_unused();
    std::set<std::string> own{"ids", "positions", "last", "start", "keys"};
    for (const CacheState& state : sizes_.states()) own.insert(state.past);
    std::vector<std::string> left;
    for (const NetworkTensor input : net_.inputs()) {
      const std::string name = net_.name(input);
      if (own.count(name)) continue;
      if (!net_.users(input).empty()) left.push_back("'" + name.substr(std::string("file's ").size()) + "' " + net_.describe(input));
      else net_.remove_input(name);
    }
    if (!left.empty())
      fail(ErrorKind::unsupported, "it has the inputs " + listed(left) +
                                       ", which are not known; a decoder takes input_ids, attention_mask, position_ids, cache_position, "
                                       "seqlens_k, total_sequence_length and a cache");
  }

  const DecoderOptions& options_;
  Network net_;
  Bindings bindings_;
  std::vector<Border> borders_;
  std::vector<NetworkTensor> rows_;
  std::vector<Samples> samples_;   // of the borders, and then of the rows
  std::vector<Found> meanings_;
  CacheSizes sizes_;
  std::int64_t vocabulary_ = 0;
  bool exact_places_ = false;
  const transformers::Weights weights_;   // none: the network has them
  NetworkTensor positions_, tokens_, before_;
  std::vector<std::string> wide_, narrow_;   // values: caches as far as they are read; and in the file's type
};

}  // namespace

Rewritten rewrite(const Place& place, const Config& config, const DecoderOptions& options) {
  return Rewriter(place, config, options).made();
}

}  // namespace tenfold::decoders::onnx
