// Plug-ins: operators from outside the tree, with shape inference, a plain kernel and optionally a fast one.
//
// Derive from PluginOperator, add() it to a Plugins object and hand that to BuildConfig::plugins and LoadOptions::plugins; models
// may then use the operator as an ONNX node of its domain. A plan stores the operator's name and version and each node's attributes,
// never code: loading one without the plug-in says what is missing. What crosses the border are numbers, names and plain structs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenfold/network.h"

namespace tenfold {

// The type of an operand or result. Each extent is a number ("384"), a symbol ("batch") or an expression of both ("(2 * batch)").
struct PluginType {
  DType dtype = DType::f32;
  std::vector<std::string> dims;
};

// A tensor in a run: dense, row major. What an operator reads and writes is the caller's.
struct PluginTensor {
  DType dtype = DType::f32;
  const std::int64_t* shape = nullptr;
  int rank = 0;
  void* data = nullptr;            // null: an optional operand that is left out
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= shape[i];
    return n;
  }
  template <class T> T* as() const { return static_cast<T*>(data); }
};

// Runs part(context, i) for every i below `parts` on the engine's workers; returns when all are done.
struct PluginWorkers {
  void (*run)(void* pool, std::int64_t parts, void (*part)(void* context, std::int64_t i), void* context) = nullptr;
  void* pool = nullptr;
};

// What an operator has to tell of itself.
struct PluginInfo {
  std::string domain, name;        // as ONNX nodes write them: "com.example", "Scale"
  int since = 1;                   // the first opset of the domain that means this
  int version = 1;                 // raised when attributes or kernels change their meaning: plans of another version are refused
  int min_inputs = 1, max_inputs = 1, outputs = 1;
  NetworkAttributes attributes;    // names, types and defaults; a node gets every one of them
};

class PluginOperator {
 public:
  virtual ~PluginOperator() = default;
  virtual PluginInfo info() const = 0;
  // The results' types; throws Error(invalid_model) for operands that do not fit.
  virtual std::vector<PluginType> infer(const NetworkAttributes& attributes, std::span<const PluginType> in) const = 0;
  // The plain kernel: obviously right, any type that infer() takes. It folds constants, and is what fast() is compared with.
  virtual void compute(const NetworkAttributes& attributes, std::span<const PluginTensor> in, std::span<const PluginTensor> out) const = 0;

  // The fast kernel, if there is one: an empty answer says that fast() takes operands of these types, any other why not.
  virtual std::string refuse(const NetworkAttributes&, std::span<const PluginType>) const { return "the plug-in has no fast kernel"; }
  // Neither allocates, locks nor throws, and gives the same bits whatever the number of workers.
  virtual void fast(const NetworkAttributes&, std::span<const PluginTensor>, std::span<const PluginTensor>,
                    const PluginWorkers&) const noexcept {}
};

// A set of plug-ins. Filled first, then shared: builders and engines keep it alive.
class Plugins {
 public:
  Plugins();
  ~Plugins();
  void add(std::shared_ptr<const PluginOperator> op);   // throws invalid_argument for a name that is taken or no name

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
