// Plug-ins: operators from outside the tree, with shape inference, a plain kernel and optionally faster ones; or graphs of known operators.
//
// Derive from PluginOperator, add() it to a Plugins object and hand that to BuildConfig::plugins and LoadOptions::plugins; models
// may then use the operator as an ONNX node of its domain. A plan stores the operator's name and version and each node's attributes,
// never code: loading one without the plug-in says what is missing.
//
// A library of plug-ins exports what TENFOLD_PLUGINS makes; Plugins::load() opens it. These classes stay on the library's side: what
// crosses the border is the C of tenfold/plugin_abi.h, so that another compiler or C++ library may have built it. All that this header
// needs of Tenfold is in headers, but for attributes that are tensors.
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

// The type of an operand or result. Each extent is a number ("384"), a symbol ("batch") or an expression of both ("(2 * batch)"). In
// results also "NAME <= BOUND": a size that only the run knows, at most that expression; compute() then tells PluginTensor::actual.
struct PluginType {
  DType dtype = DType::f32;
  std::vector<std::string> dims;
  bool missing = false;            // an optional operand that is left out
};

// A tensor in a run: dense, row major. What an operator reads and writes is the caller's.
struct PluginTensor {
  DType dtype = DType::f32;
  const std::int64_t* shape = nullptr;
  int rank = 0;
  void* data = nullptr;            // null: an optional operand that is left out
  std::int64_t* actual = nullptr;  // of results with sizes that only the run knows: the bounds, to be replaced by what was found
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
  std::string domain, name;        // as ONNX nodes write them: "com.example", "Scale"; "*": of any domain that has no such operator
  int since = 1;                   // the first opset of the domain that means this
  int version = 1;                 // raised when attributes or kernels change their meaning: plans of another version are refused
  int min_inputs = 1, max_inputs = 1, outputs = 1;
  NetworkAttributes attributes;    // names, types and defaults; a node gets every one of them
};

// One that computes. Called by several threads at once. fast() is a tactic for CPUs without layouts, workspace or state; what needs
// more (tactics for GPUs, too) is written as tenfold_plugin_tactic, and tactics() gives it.
class TENFOLD_API PluginOperator {
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
  // Further tactics; plugin_operator(self) is this object in their calls. The tables live as long as it does.
  virtual std::vector<const tenfold_plugin_tactic*> tactics() const { return {}; }
};

// One that is a graph of known operators, which then fuse with their neighbours. Called by several threads at once.
class TENFOLD_API PluginGraph {
 public:
  virtual ~PluginGraph() = default;
  virtual PluginInfo info() const = 0;
  // The text that tenfold_plugin_expand describes: "k = f32[]{$factor}\n y = Mul(in0, k)\n return y".
  virtual std::string expand(const NetworkAttributes& attributes, std::span<const PluginType> in) const = 0;
};

// A set of plug-ins. Filled first, then shared: builders and engines keep it alive.
class TENFOLD_API Plugins {
 public:
  Plugins();
  ~Plugins();
  // All of these throw invalid_argument for a table that makes no sense, for a name that is taken or no name.
  void add(std::shared_ptr<const PluginOperator> op);
  void add(std::shared_ptr<const PluginGraph> graph);
  void add(const tenfold_plugin_operator* plugin);
  // All operators of a library; also throws io where it cannot be opened. A name without `/` is a file of the working folder. What an
  // operator before the faulty one gave stays in the set. The library stays open as long as plug-ins of it are used.
  void load(const std::string& path);

  struct TENFOLD_NOT_EXPORTED Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold

#include "tenfold/plugin_adapter.h"

// What a library exports, once in one of its sources: TENFOLD_PLUGINS("snake", std::make_shared<Snake>(), std::make_shared<Other>()).
#define TENFOLD_PLUGINS(library_name, ...)                                                                                \
  extern "C" TENFOLD_PLUGIN_EXPORT const tenfold_plugin_library* tenfold_plugins(const tenfold_plugin_host*) {            \
    return tenfold::plugin_adapter::library_of(library_name, [] { return tenfold::plugin_adapter::adapted(__VA_ARGS__); });           \
  }
