// How many nodes a model has once its functions are inlined, counted before any of them is made.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "onnx_import/messages.h"

namespace tenfold::onnx_import {

using FunctionKey = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

// A node is one, with the nodes of its bodies and of the function that it calls; each function is looked at once. Counts
// end at kMaxCounted. A call inside of its own function, which the import refuses, counts as one node.
class Unfolding {
 public:
  explicit Unfolding(const std::map<FunctionKey, const onnx::FunctionProto*>& functions) : functions_(functions) {}
  std::int64_t of(const onnx::NodeProto& node);
  std::int64_t of(const std::vector<onnx::NodeProto>& nodes);

 private:
  std::int64_t of_call(const FunctionKey& key);
  const std::map<FunctionKey, const onnx::FunctionProto*>& functions_;
  std::map<FunctionKey, std::int64_t> known_;
  int depth_ = 0;
};

inline constexpr std::int64_t kMaxCounted = std::int64_t{1} << 40;

// As they stand in the file, bodies included.
std::int64_t written_nodes(const std::vector<onnx::NodeProto>& nodes);

}  // namespace tenfold::onnx_import
