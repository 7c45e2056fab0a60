// Plug-ins: operators from outside Tenfold. An operator has shape inference, a plain kernel and optionally faster ones,
// or it is a graph of known operators.
//
// Derive from PluginOperator, add() the object to a Plugins object, and give that to BuildConfig::plugins and
// LoadOptions::plugins. Models may then use the operator as an ONNX node of its domain. A plan stores the operator's
// name and version and each node's attributes, never code. Loading such a plan without the plug-in says what is
// missing.
//
// A library of plug-ins exports what TENFOLD_PLUGINS makes, and Plugins::load() opens it. The classes of this header
// stay on the library's side of the border. What crosses the border is the C of tenfold/plugin_abi.h, so that another
// compiler with another C++ library may have built the plug-in. A library needs nothing of Tenfold but headers, except
// for attributes that are tensors.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenfold/error.h"
#include "tenfold/export.h"
#include "tenfold/network.h"
#include "tenfold/plugin_abi.h"

namespace tenfold {

// The type of an operand or result. Each extent is a number ("384"), a symbol ("batch") or an expression of both
// ("(2 * batch)"). In results it may also be "NAME <= BOUND": a size that only the run knows, and that is at most that
// expression. compute() then writes the size into PluginTensor::actual.
struct PluginType {
  DType dtype = DType::f32;
  std::vector<std::string> dims;
  bool missing = false;            // the operand is optional and left out
};

// A tensor in a run, dense and row major. The memory is the caller's.
struct PluginTensor {
  DType dtype = DType::f32;
  const std::int64_t* shape = nullptr;
  int rank = 0;
  void* data = nullptr;            // null: the operand is optional and left out
  // For a result with sizes that only the run knows: the bounds, which compute() replaces by the sizes that it found.
  std::int64_t* actual = nullptr;
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= shape[i];
    return n;
  }
  template <class T> T* as() const { return static_cast<T*>(data); }
};

// Runs part(context, i) for every i below `parts` on the engine's workers, and returns when all are done.
struct PluginWorkers {
  void (*run)(void* pool, std::int64_t parts, void (*part)(void* context, std::int64_t i), void* context) = nullptr;
  void* pool = nullptr;
};

// What an operator says about itself.
struct PluginInfo {
  std::string domain, name;        // as in ONNX nodes: "com.example", "Scale"; "*": any domain without such an operator
  int since = 1;                   // the first opset of the domain at which the name means this
  // Raise it when attributes or kernels change their meaning: plans of another version are then refused.
  int version = 1;
  int min_inputs = 1, max_inputs = 1, outputs = 1;
  NetworkAttributes attributes;    // names, types and defaults; every call gets all of them
};

// An operator that computes. Several threads call it at once. fast() is a tactic for CPUs without layouts, workspace or
// state. A tactic that needs more, or that is for GPUs, is a tenfold_plugin_tactic, which tactics() gives.
class TENFOLD_API PluginOperator {
 public:
  virtual ~PluginOperator() = default;
  virtual PluginInfo info() const = 0;
  // The types of the results. Throws Error(invalid_model) for operands that do not fit.
  virtual std::vector<PluginType> infer(const NetworkAttributes& attributes, std::span<const PluginType> in) const = 0;
  // The plain kernel. It should be obviously right, and takes every type that infer() takes. It folds constants, and
  // fast() is compared with it.
  virtual void compute(const NetworkAttributes& attributes, std::span<const PluginTensor> in, std::span<const PluginTensor> out) const = 0;

  // An empty answer says that fast() takes operands of these types. Any other says why it does not.
  virtual std::string refuse(const NetworkAttributes&, std::span<const PluginType>) const { return "the plug-in has no fast kernel"; }
  // The fast kernel. It neither allocates, locks nor throws, and gives the same bits whatever the number of workers.
  virtual void fast(const NetworkAttributes&, std::span<const PluginTensor>, std::span<const PluginTensor>,
                    const PluginWorkers&) const noexcept {}
  // Further tactics. In their calls, plugin_operator(self) is this object. The tables live as long as it does.
  virtual std::vector<const tenfold_plugin_tactic*> tactics() const { return {}; }
};

// An operator that is a graph of known operators, which then fuse with their neighbors. Several threads call it at
// once.
class TENFOLD_API PluginGraph {
 public:
  virtual ~PluginGraph() = default;
  virtual PluginInfo info() const = 0;
  // The text that tenfold_plugin_expand describes: "k = f32[]{$factor}\n y = Mul(in0, k)\n return y".
  virtual std::string expand(const NetworkAttributes& attributes, std::span<const PluginType> in) const = 0;
};

// A set of plug-ins. One thread fills it first; then it may be shared. Builders and engines keep it alive.
class TENFOLD_API Plugins {
 public:
  Plugins();
  ~Plugins();
  // All of these throw invalid_argument for a table that makes no sense, and for a name that is taken or impossible.
  void add(std::shared_ptr<const PluginOperator> op);
  void add(std::shared_ptr<const PluginGraph> graph);
  void add(const tenfold_plugin_operator* plugin);
  // Adds all operators of a library. Also throws io if the library cannot be opened. A name without `/` is a file of
  // the working folder. If an operator is faulty, those before it stay in the set. The library stays open as long as
  // its plug-ins are used.
  void load(const std::string& path);

  struct TENFOLD_NOT_EXPORTED Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold

#include "tenfold/plugin_adapter.h"

// Makes what a library exports. Write it once, in one of its sources:
//   TENFOLD_PLUGINS("snake", std::make_shared<Snake>(), std::make_shared<Other>())
#define TENFOLD_PLUGINS(library_name, ...)                                                                                \
  extern "C" TENFOLD_PLUGIN_EXPORT const tenfold_plugin_library* tenfold_plugins(const tenfold_plugin_host*) {            \
    return tenfold::plugin_adapter::library_of(library_name, [] { return tenfold::plugin_adapter::adapted(__VA_ARGS__); });           \
  }
