// Loops and branches that are written as layers between entries and outputs: the layers between them become bodies.
//
// Outside of bodies an entry stands for its first value (a recurrence for its initial one, an iterator for the first slice), so that shapes
// of all layers can be asked for, and so that a loop's condition before its first round is the condition's layer, as it is there. Nobody
// reads the rest of these nodes; a build drops them.
#include <array>
#include <limits>
#include <string_view>

#include "layers/region_body.h"

namespace tenfold {

using layers::RegionBody;
using layers::Key;
using layers::key_of;
using layers::Region;

namespace {

// A network that layers are made in: the caller's own, or a body's.
struct Frame {
  Network& net;
  const std::set<std::size_t>* inside = nullptr;  // what is made here; null: everything is made already
  std::map<Key, NetworkTensor> values = {};
};

class RegionMaker {
 public:
  explicit RegionMaker(LayerStore& layers) : layers_(layers) {}

  // All results of the region, by their outputs. `used`: tensors that the new node reads.
  std::map<std::size_t, NetworkTensor> make(Frame& frame, std::int64_t number, Network::Tensors* used) {
    Region region{number, {}, {}, {}};
    for (std::size_t i = 0; i < layers_.all.size(); ++i)
      if (layers_.all[i].region() == number) list_of(region, layers_.all[i].kind->part).push_back(i);
    return layers_.all[region.outputs.at(0)].kind->name == "loop_output" ? loop(frame, region, used) : branch(frame, region, used);
  }

 private:
  LayerStore& layers_;

  static std::vector<std::size_t>& list_of(Region& region, RegionPart part) {
    return part == RegionPart::entry ? region.entries : part == RegionPart::control ? region.controls : region.outputs;
  }
  const Layer& at(std::size_t i) const { return layers_.all[i]; }
  std::string text(std::size_t i, const char* option) const { return std::get<std::string>(at(i).options.at(option)); }
  std::int64_t number(std::size_t i, const char* option) const { return std::get<std::int64_t>(at(i).options.at(option)); }
  bool is(std::size_t i, std::string_view kind) const { return at(i).kind->name == kind; }
  const LayerOperand& operand(std::size_t i, std::size_t index, const char* why) const {
    if (index >= at(i).operands.size() || !at(i).operands[index].given())
      throw Error(ErrorKind::invalid_argument, "layer '" + at(i).name + "' (" + at(i).kind->name + ") " + why);
    return at(i).operands[index];
  }

  NetworkTensor value(const Frame& frame, const LayerOperand& o) const {
    if (const auto known = frame.values.find(key_of(o)); known != frame.values.end()) return known->second;
    if (frame.inside == nullptr) return layers_.tensor(o);
    const std::string name = o.layer >= 0 ? "layer '" + at(static_cast<std::size_t>(o.layer)).name + "'" : "a tensor";
    throw Error(ErrorKind::internal, "a body reads " + name + ", which it does not have");
  }

  void make_inside(Frame& frame, const std::vector<std::size_t>& order) {
    for (const std::size_t i : order) {
      const Layer& layer = at(i);
      if (layer.kind->part == RegionPart::output) {
        if (frame.values.count(key_of(i)) > 0) continue;
        for (const auto& [output, made] : make(frame, layer.region(), nullptr)) frame.values[key_of(output)] = made;
        continue;
      }
      Network::Tensors in;
      for (const LayerOperand& o : layers_.needs(layer)) in.push_back(o.given() ? value(frame, o) : NetworkTensor{});
      try {
        const Network::Tensors made = layer.kind->make(LayerCall(frame.net, layer.name, in, layer.options, false));
        for (std::size_t r = 0; r < made.size(); ++r)
          frame.values[key_of(i, r)] = made[r];
      } catch (Error& e) {
        throw e.within("layer '" + layer.name + "' (" + layer.kind->name + ")");
      }
    }
  }
  // A body's frame with what it captures.
  static void take(Frame& frame, const std::map<Key, LayerOperand>& captures, const Network::Tensors& given, std::size_t first) {
    for (const auto& [key, o] : captures) frame.values[key] = given[first++];
  }
  Network::Tensors values(const Frame& frame, const std::map<Key, LayerOperand>& operands) const {
    Network::Tensors found;
    for (const auto& [key, o] : operands) found.push_back(value(frame, o));
    return found;
  }

  std::map<std::size_t, NetworkTensor> branch(Frame& frame, const Region& region, Network::Tensors* used) {
    if (region.controls.size() != 1)
      throw Error(ErrorKind::invalid_argument, "the branch of layer '" + at(region.outputs[0]).name + "' has " +
                                                   std::to_string(region.controls.size()) + " conditions, it needs one (set_condition)");
    std::map<Key, LayerOperand> captures;
    std::array<std::vector<LayerOperand>, 2> targets;
    for (const std::size_t output : region.outputs)
      for (std::size_t side = 0; side < 2; ++side) targets[side].push_back(operand(output, side, "needs a value for each case"));
    const std::array<RegionBody, 2> bodies{body_of(layers_, region, targets[0]), body_of(layers_, region, targets[1])};
    for (const RegionBody& each : bodies) captures.insert(each.captures.begin(), each.captures.end());
    for (const std::size_t entry : region.entries) captures.emplace(key_of(at(entry).operands[0]), at(entry).operands[0]);
    const NetworkTensor condition = scalar(frame.net, value(frame, at(region.controls[0]).operands[0]), DType::boolean);
    const Network::Tensors captured = values(frame, captures);
    const auto body = [&](std::size_t side) {
      return [&, side](Network& net, const Network::Tensors& given) {
        Frame inner{net, &bodies[side].inside};
        take(inner, captures, given, 0);
        for (const std::size_t entry : region.entries)
          inner.values[key_of(entry)] = inner.values.at(key_of(at(entry).operands[0]));
        make_inside(inner, bodies[side].order);
        Network::Tensors results;
        for (const LayerOperand& target : targets[side]) results.push_back(net.add_node("Identity", {value(inner, target)})[0]);
        return results;
      };
    };
    const Network::Tensors made = frame.net.if_conditional(condition, captured, body(0), body(1));
    if (used != nullptr) *used = captured, used->push_back(value(frame, at(region.controls[0]).operands[0]));
    std::map<std::size_t, NetworkTensor> results;
    for (std::size_t i = 0; i < region.outputs.size(); ++i) results[region.outputs[i]] = made[i];
    return results;
  }

  // x, of one element, as a scalar of a type.
  static NetworkTensor scalar(Network& net, NetworkTensor x, DType type) {
    const NetworkTensor typed = net.dtype(x) == type ? x : net.cast(x, type);
    return net.dims(typed).empty() ? typed : net.add_node("Reshape", {typed, net.constant(Tensor(DType::i64, {0}))})[0];
  }
  static NetworkTensor constant(Network& net, std::int64_t value) {
    Tensor t(DType::i64, {});
    *t.mutable_data<std::int64_t>() = value;
    return net.constant(std::move(t));
  }
  // Where an iterator is in round i: from the front, or from the back.
  NetworkTensor slice(Network& net, std::size_t iterator, NetworkTensor x, NetworkTensor i, bool clamp) const {
    const std::int64_t axis = number(iterator, "axis");
    const NetworkTensor extent = net.gather(net.shape(x), constant(net, axis), 0);
    const NetworkTensor last = net.elementwise(Elementwise::sub, extent, constant(net, 1));
    NetworkTensor place = clamp ? net.elementwise(Elementwise::min, i, last) : i;
    if (number(iterator, "reverse") != 0) place = net.elementwise(Elementwise::sub, last, place);
    return net.gather(x, place, axis);
  }

  // A loop as its parts: what goes round, what is collected, what ends it.
  struct Loop {
    std::vector<std::size_t> recurrences, iterators, last, collected;
    std::optional<std::size_t> count, condition;
  };
  Loop parts_of(const Region& region) const {
    Loop l;
    for (const std::size_t entry : region.entries) (is(entry, "recurrence") ? l.recurrences : l.iterators).push_back(entry);
    for (const std::size_t control : region.controls) {
      std::optional<std::size_t>& to = text(control, "kind") == "WHILE" ? l.condition : l.count;
      if (to) throw Error(ErrorKind::invalid_argument, "layer '" + at(control).name + "' is a second trip limit of its loop's kind");
      to = control;
    }
    if (!l.count && !l.condition)
      throw Error(ErrorKind::invalid_argument, "the loop of layer '" + at(region.outputs[0]).name + "' has no trip limit (add_trip_limit)");
    for (const std::size_t output : region.outputs) (text(output, "kind") == "LAST_VALUE" ? l.last : l.collected).push_back(output);
    return l;
  }
  // Which recurrence's last value an output is.
  std::size_t recurrence_of(const Loop& l, std::size_t output) const {
    const LayerOperand& o = operand(output, 0, "needs a value");
    for (std::size_t r = 0; r < l.recurrences.size(); ++r)
      if (o.layer == static_cast<std::int32_t>(l.recurrences[r])) return r;
    throw Error(ErrorKind::invalid_argument,
                "layer '" + at(output).name + "' (loop_output): a LAST_VALUE is that of a recurrence of its loop");
  }
  // From [rounds, ...] to [length, ...], where the caller says how many rounds the result holds: zeros behind the last.
  NetworkTensor of_length(Network& net, NetworkTensor stacked, NetworkTensor length) const {
    const auto list = [&](std::int64_t v) {
      Tensor t(DType::i64, {1});
      *t.mutable_data<std::int64_t>() = v;
      return net.constant(std::move(t));
    };
    const auto rank = static_cast<std::int64_t>(net.dims(stacked).size());
    const NetworkTensor count = net.add_node("Reshape", {scalar(net, length, DType::i64), list(1)})[0];
    const NetworkTensor rest = net.add_node("Slice", {net.shape(stacked), list(1), list(rank)})[0];
    const NetworkTensor shape = net.add_node("Concat", {count, rest}, {{"axis", std::int64_t{0}}})[0];
    Tensor zero(DType::f32, {});
    *zero.mutable_data<float>() = 0;
    const NetworkTensor zeros = net.add_node("Expand", {net.cast(net.constant(std::move(zero)), net.dtype(stacked)), shape})[0];
    const NetworkTensor all = net.add_node("Concat", {stacked, zeros}, {{"axis", std::int64_t{0}}})[0];
    return net.add_node("Reshape", {net.add_node("Slice", {all, list(0), count, list(0)})[0], shape})[0];
  }
  // From [rounds, ...] to the place and the order that an output asks for.
  NetworkTensor arranged(Network& net, std::size_t output, NetworkTensor stacked) const {
    const auto rank = static_cast<std::int64_t>(net.dims(stacked).size());
    const std::int64_t axis = number(output, "axis");
    if (axis < 0 || axis >= rank)
      throw Error(ErrorKind::invalid_argument, "layer '" + at(output).name + "' (loop_output): axis " + std::to_string(axis) +
                                                   " is none of the " + std::to_string(rank) + " that the result has");
    NetworkTensor y = stacked;
    if (text(output, "kind") == "REVERSE") {
      const auto list = [&](std::int64_t v) {
        Tensor t(DType::i64, {1});
        *t.mutable_data<std::int64_t>() = v;
        return net.constant(std::move(t));
      };
      y = net.add_node("Slice", {y, list(-1), list(std::numeric_limits<std::int64_t>::min()), list(0), list(-1)})[0];
    }
    if (axis == 0) return y;
    Shape order;
    for (std::int64_t d = 1; d < rank; ++d) order.push_back(d);
    order.insert(order.begin() + axis, 0);
    return net.shuffle(y, order);
  }

  std::map<std::size_t, NetworkTensor> loop(Frame& frame, const Region& region, Network::Tensors* used) {
    const Loop l = parts_of(region);
    std::vector<LayerOperand> targets, whiles;
    for (const std::size_t r : l.recurrences) targets.push_back(operand(r, 1, "has no value for the next round (set_input(1, tensor))"));
    for (const std::size_t o : l.collected) targets.push_back(operand(o, 0, "needs a value"));
    if (l.condition) whiles.push_back(at(*l.condition).operands[0]);
    const RegionBody rounds = body_of(layers_, region, targets), whether = body_of(layers_, region, whiles);
    std::map<Key, LayerOperand> captures = rounds.captures;
    captures.insert(whether.captures.begin(), whether.captures.end());
    for (const std::size_t i : l.iterators) captures.emplace(key_of(at(i).operands[0]), at(i).operands[0]);

    Network& net = frame.net;
    Network::Tensors reads = values(frame, captures), carried;
    const Network::Tensors captured = reads;
    for (const std::size_t r : l.recurrences) carried.push_back(value(frame, at(r).operands[0])), reads.push_back(carried.back());
    NetworkTensor trips, condition;
    if (l.count) reads.push_back(value(frame, at(*l.count).operands[0])), trips = scalar(net, reads.back(), DType::i64);
    if (l.condition) reads.push_back(value(frame, whiles[0])), condition = scalar(net, reads.back(), DType::boolean);

    const auto set_entries = [&](Frame& inner, const Network::Tensors& recurrences, NetworkTensor round, bool clamp) {
      for (std::size_t r = 0; r < l.recurrences.size(); ++r)
        inner.values[key_of(l.recurrences[r])] = recurrences[r];
      for (const std::size_t i : l.iterators)
        inner.values[key_of(i)] =
            slice(inner.net, i, inner.values.at(key_of(at(i).operands[0])), round, clamp);
    };
    const auto body = [&](Network& inside, const Network::Tensors& given) {
      Frame round{inside, &rounds.inside};
      const Network::Tensors now(given.begin() + 2, given.begin() + 2 + static_cast<std::ptrdiff_t>(carried.size()));
      take(round, captures, given, 2 + carried.size());
      set_entries(round, now, given[0], false);
      make_inside(round, rounds.order);
      Network::Tensors next, results{{}};
      for (std::size_t r = 0; r < l.recurrences.size(); ++r)
        next.push_back(inside.add_node("Identity", {value(round, targets[r])})[0]), results.push_back(next.back());
      for (std::size_t o = 0; o < l.collected.size(); ++o)
        results.push_back(inside.add_node("Identity", {value(round, targets[l.recurrences.size() + o])})[0]);
      if (l.condition) {
        Frame after{inside, &whether.inside};
        take(after, captures, given, 2 + carried.size());
        set_entries(after, next, inside.elementwise(Elementwise::sum, given[0], constant(inside, 1)), true);
        make_inside(after, whether.order);
        results[0] = scalar(inside, value(after, whiles[0]), DType::boolean);
      } else {
        Tensor go_on(DType::boolean, {});
        *static_cast<bool*>(go_on.mutable_raw()) = true;
        results[0] = inside.constant(std::move(go_on));
      }
      return results;
    };
    const Network::Tensors made = net.loop(trips, condition, carried, captured, body);
    std::map<std::size_t, NetworkTensor> results;
    for (const std::size_t o : l.last) results[o] = made[recurrence_of(l, o)];
    for (std::size_t o = 0; o < l.collected.size(); ++o) {
      const std::vector<LayerOperand>& given = at(l.collected[o]).operands;
      NetworkTensor stacked = made[l.recurrences.size() + o];
      const bool counts_so = l.count && !l.condition && given.size() > 1 && key_of(given[1]) == key_of(at(*l.count).operands[0]);
      if (given.size() > 1 && given[1].given() && !counts_so) {
        reads.push_back(value(frame, given[1]));
        stacked = of_length(net, stacked, reads.back());
      }
      results[l.collected[o]] = arranged(net, l.collected[o], stacked);
    }
    if (used != nullptr) *used = reads;
    return results;
  }
};

}  // namespace

// An entry stands for its first value. An output needs all that its region is made of.
std::vector<LayerOperand> LayerStore::needs(const Layer& layer) const {
  std::vector<LayerOperand> found;
  const auto add = [&](const std::vector<LayerOperand>& operands, std::size_t count) {
    for (std::size_t i = 0; i < std::min(count, operands.size()); ++i)
      if (operands[i].given()) found.push_back(operands[i]);
  };
  if (layer.kind->part == RegionPart::none) return layer.operands;
  if (layer.kind->part != RegionPart::output) return add(layer.operands, 1), found;
  for (const Layer& each : all)
    if (each.region() == layer.region()) add(each.operands, each.operands.size());
  return found;
}

void LayerStore::make_region(Layer& output, std::size_t number) {
  const std::int64_t region = output.region();
  if (regions.count(region) == 0) {
    Frame frame{*net};
    Network::Tensors used;
    std::map<std::size_t, NetworkTensor> made = RegionMaker(*this).make(frame, region, &used);
    const LayerCall call(*net, output.name, used, output.options, false);
    for (const auto& [layer, tensor] : made) call.keep(tensor);
    output.nodes = call.nodes_made();
    output.owns_region = true;
    regions[region] = std::move(made);
  }
  output.made = {regions[region].at(number)};
}

namespace layers {

LayerKind region_kind(const char* name, RegionPart part, int inputs, const NetworkAttributes& options) {
  NetworkAttributes all = options;
  all["region"] = std::int64_t{0};
  return {.name = name, .min_inputs = 1, .max_inputs = inputs, .options = all, .make = nullptr, .part = part};
}

}  // namespace layers
}  // namespace tenfold
