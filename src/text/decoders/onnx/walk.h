// Questions about a network that several parts of the rewriting ask.
#pragma once

#include <optional>
#include <string>

#include "tenfold/network.h"

namespace tenfold::decoders::onnx {

inline bool same(NetworkTensor a, NetworkTensor b) { return a.index == b.index && a.network == b.network; }
std::optional<NetworkNodeInfo> maker(const Network& net, NetworkTensor value);   // nothing: it is an input or a constant
bool follows(const Network& net, NetworkTensor value, NetworkTensor from);        // whether `value` is made of `from`, or is that
bool is_weight(const Network& net, NetworkTensor value);                         // made of constants alone
// The axis that an attribute names, counted from the front; -1: the value's rank is not known.
std::int64_t axis_of(const Network& net, const NetworkNodeInfo& node, NetworkTensor value, std::int64_t otherwise);
std::int64_t integer(const NetworkNodeInfo& node, const std::string& attribute, std::int64_t otherwise);
int rank(const Network& net, NetworkTensor value);                               // -1: it is not known
std::string shown(const NetworkNodeInfo& node);                                  // "node 'name' (Op)"
std::string listed(const std::vector<std::string>& names);                       // "a, b, c and 4 more"

}  // namespace tenfold::decoders::onnx
