// Turns C++ classes into the structs of plugin_abi.h, on the plug-in's side of the border. plugin.h includes it.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace tenfold::plugin_adapter {

// ONNX's number of an element type, and back. A type without a number is TENFOLD_TYPE_MISSING.
inline constexpr std::int32_t kPluginTypes[] = {
    TENFOLD_TYPE_F32,        TENFOLD_TYPE_F64,    TENFOLD_TYPE_F16,      TENFOLD_TYPE_BF16,       TENFOLD_TYPE_I64,
    TENFOLD_TYPE_I32,        TENFOLD_TYPE_I16,    TENFOLD_TYPE_I8,       TENFOLD_TYPE_U64,        TENFOLD_TYPE_U32,
    TENFOLD_TYPE_U16,        TENFOLD_TYPE_U8,     TENFOLD_TYPE_I4,       TENFOLD_TYPE_U4,         TENFOLD_TYPE_I2,
    TENFOLD_TYPE_U2,         TENFOLD_TYPE_BOOL,   TENFOLD_TYPE_F8E4M3FN, TENFOLD_TYPE_F8E4M3FNUZ, TENFOLD_TYPE_F8E5M2,
    TENFOLD_TYPE_F8E5M2FNUZ, TENFOLD_TYPE_F8E8M0, TENFOLD_TYPE_F4E2M1};
static_assert(std::size(kPluginTypes) == static_cast<std::size_t>(DType::string), "an element type has no number");

inline std::int32_t plugin_number(DType dtype) {
  const auto i = static_cast<std::size_t>(dtype);
  return i < std::size(kPluginTypes) ? kPluginTypes[i] : TENFOLD_TYPE_MISSING;
}
inline DType plugin_dtype(std::int32_t number) {
  for (std::size_t i = 0; i < std::size(kPluginTypes); ++i)
    if (kPluginTypes[i] == number) return static_cast<DType>(i);
  return DType::count_;
}

// Makes a Tensor. It is null in libraries, which do not link Tenfold.
using MakeTensor = Tensor (*)(const tenfold_plugin_tensor&);

inline NetworkAttribute plugin_attribute(const tenfold_plugin_attribute& a, MakeTensor make_tensor) {
  const auto count = static_cast<std::size_t>(a.count);
  switch (a.kind) {
    case TENFOLD_PLUGIN_INT: return a.ints[0];
    case TENFOLD_PLUGIN_FLOAT: return a.floats[0];
    case TENFOLD_PLUGIN_STRING: return std::string(a.strings[0]);
    case TENFOLD_PLUGIN_INTS: return std::vector<std::int64_t>(a.ints, a.ints + count);
    case TENFOLD_PLUGIN_FLOATS: return std::vector<float>(a.floats, a.floats + count);
    case TENFOLD_PLUGIN_STRINGS: return std::vector<std::string>(a.strings, a.strings + count);
    default: break;
  }
  if (!make_tensor)
    throw Error(ErrorKind::unsupported, "C++ plug-ins in libraries take no attributes that are tensors");
  return make_tensor(*a.tensor);
}
inline NetworkAttributes plugin_attributes(const tenfold_plugin_attribute* list, std::int32_t count,
                                           MakeTensor make_tensor) {
  NetworkAttributes out;
  for (std::int32_t i = 0; i < count; ++i) out.emplace(list[i].name, plugin_attribute(list[i], make_tensor));
  return out;
}
inline std::vector<PluginType> plugin_types(const tenfold_plugin_type* list, std::int32_t count) {
  std::vector<PluginType> out;
  for (std::int32_t i = 0; i < count; ++i) {
    const tenfold_plugin_type& t = list[i];
    out.push_back({plugin_dtype(t.dtype), {}, t.dtype == TENFOLD_TYPE_MISSING});
    if (out.back().missing) out.back().dtype = DType::f32;
    for (std::int32_t d = 0; d < t.rank; ++d) out.back().dims.emplace_back(t.dims[d]);
  }
  return out;
}

// The tensors of a call. A few of them lie on the stack, because fast() must not allocate.
class PluginTensors {
 public:
  PluginTensors(const tenfold_plugin_tensor* list, std::int32_t count) : count_(static_cast<std::size_t>(count)) {
    PluginTensor* to = few_;
    if (count_ > std::size(few_)) many_.resize(count_), to = many_.data();
    for (std::size_t i = 0; i < count_; ++i)
      to[i] = {list[i].dtype ? plugin_dtype(list[i].dtype) : DType::f32, list[i].shape, list[i].rank, list[i].data,
               list[i].actual};
  }
  std::span<const PluginTensor> span() const { return {many_.empty() ? few_ : many_.data(), count_}; }

 private:
  std::size_t count_;
  PluginTensor few_[16];
  std::vector<PluginTensor> many_;
};

// No exception leaves a call: it becomes a number and a text.
template <class Call, class Act>
std::int32_t plugin_guarded(Call* call, Act act) noexcept {
  const auto say = [&](const char* what, ErrorKind kind) {
    std::snprintf(call->why, call->why_bytes, "%s", what);
    return static_cast<std::int32_t>(kind) + 1;
  };
  try {
    return act();
  } catch (const Error& e) {
    return say(e.what(), e.kind());
  } catch (const std::bad_alloc&) {
    return say("out of memory", ErrorKind::out_of_memory);
  } catch (const std::exception& e) {
    return say(e.what(), ErrorKind::internal);
  } catch (...) {
    return say("an unknown exception", ErrorKind::internal);
  }
}

// Holds the tables of one C++ plug-in, and is their `self`.
class PluginAdapter {
 public:
  explicit PluginAdapter(std::shared_ptr<const PluginOperator> op, MakeTensor make_tensor = nullptr)
      : op_(std::move(op)), make_tensor_(make_tensor) {
    describe(op_->info());
    table_.infer = infer, table_.compute = compute;
    fast_ = {};
    fast_.size = sizeof fast_, fast_.name = "fast", fast_.version = info_.version, fast_.device = "cpu";
    fast_.open = open_fast, fast_.close = close_fast, fast_.run = run_fast, fast_.supports = supports_fast;
    tactics_.push_back(&fast_);
    for (const tenfold_plugin_tactic* t : op_->tactics()) tactics_.push_back(t);
    table_.tactics = tactics_.data(), table_.tactic_count = static_cast<std::int32_t>(tactics_.size());
  }
  explicit PluginAdapter(std::shared_ptr<const PluginGraph> graph, MakeTensor make_tensor = nullptr)
      : graph_(std::move(graph)), make_tensor_(make_tensor) {
    describe(graph_->info());
    table_.expand = expand;
  }
  PluginAdapter(const PluginAdapter&) = delete;
  tenfold_plugin_operator& table() { return table_; }
  static const PluginAdapter& of(void* self) { return *static_cast<const PluginAdapter*>(self); }
  const PluginOperator& op() const { return *op_; }

 private:
  void describe(PluginInfo info) {
    info_ = std::move(info);
    table_.size = sizeof table_, table_.domain = info_.domain.c_str(), table_.name = info_.name.c_str();
    table_.since = info_.since, table_.version = info_.version, table_.self = this;
    table_.min_inputs = info_.min_inputs, table_.max_inputs = info_.max_inputs;
    table_.min_outputs = table_.max_outputs = info_.outputs;
    attributes_.reserve(info_.attributes.size()), tensors_.reserve(info_.attributes.size()),
        texts_.reserve(info_.attributes.size());
    for (const auto& [name, value] : info_.attributes) add_attribute(name, value);
    table_.attributes = attributes_.data(), table_.attribute_count = static_cast<std::int32_t>(attributes_.size());
  }
  void add_attribute(const std::string& name, const NetworkAttribute& value) {
    tenfold_plugin_attribute a{};
    a.name = name.c_str(), a.kind = static_cast<std::int32_t>(value.index()), a.count = 1;
    const auto strings = [&](const std::string* first, std::size_t count) {
      std::vector<const char*>& list = texts_.emplace_back();
      for (std::size_t i = 0; i < count; ++i) list.push_back(first[i].c_str());
      a.strings = list.data(), a.count = static_cast<std::int32_t>(count);
    };
    if (const auto* i = std::get_if<std::int64_t>(&value)) a.ints = i;
    if (const auto* f = std::get_if<float>(&value)) a.floats = f;
    if (const auto* s = std::get_if<std::string>(&value)) strings(s, 1);
    if (const auto* l = std::get_if<std::vector<std::int64_t>>(&value))
      a.ints = l->data(), a.count = static_cast<std::int32_t>(l->size());
    if (const auto* l = std::get_if<std::vector<float>>(&value))
      a.floats = l->data(), a.count = static_cast<std::int32_t>(l->size());
    if (const auto* l = std::get_if<std::vector<std::string>>(&value)) strings(l->data(), l->size());
    if (const auto* t = std::get_if<Tensor>(&value)) {
      tensors_.push_back(
          {plugin_number(t->dtype()), t->rank(), t->shape().data(), nullptr, const_cast<void*>(t->raw()), nullptr, {}});
      a.tensor = &tensors_.back();
    }
    attributes_.push_back(a);
  }

  static std::int32_t infer(void* self, tenfold_plugin_infer* call) noexcept {
    return plugin_guarded(call, [&] {
      const PluginAdapter& a = of(self);
      const std::vector<PluginType> in = plugin_types(call->in, call->inputs);
      const std::vector<PluginType> out =
          a.op_->infer(plugin_attributes(call->attributes, call->attribute_count, a.make_tensor_), in);
      if (out.size() != static_cast<std::size_t>(call->outputs))
        throw Error(ErrorKind::invalid_argument, "it infers " + std::to_string(out.size()) + " types for " +
                                                     std::to_string(call->outputs) + " results");
      for (std::size_t i = 0; i < out.size(); ++i) {
        std::vector<const char*> dims;
        for (const std::string& d : out[i].dims) dims.push_back(d.c_str());
        const auto rank = static_cast<std::int32_t>(dims.size());
        if (const std::int32_t code =
                call->set_output(call, static_cast<std::int32_t>(i), plugin_number(out[i].dtype), rank, dims.data()))
          return code;
      }
      return 0;
    });
  }
  static std::int32_t compute(void* self, tenfold_plugin_run* call) noexcept {
    return plugin_guarded(call, [&] {
      const PluginAdapter& a = of(self);
      const PluginTensors in(call->in, call->inputs), out(call->out, call->outputs);
      a.op_->compute(plugin_attributes(call->attributes, call->attribute_count, a.make_tensor_), in.span(), out.span());
      return 0;
    });
  }
  static std::int32_t expand(void* self, tenfold_plugin_expand* call) noexcept {
    return plugin_guarded(call, [&] {
      const PluginAdapter& a = of(self);
      const NetworkAttributes attributes = plugin_attributes(call->attributes, call->attribute_count, a.make_tensor_);
      return call->set_graph(call, a.graph_->expand(attributes, plugin_types(call->in, call->inputs)).c_str());
    });
  }

  // The tactic of fast(). Its state is the attributes, which a run must not allocate.
  static std::int32_t supports_fast(void* self, tenfold_plugin_problem* p) noexcept {
    return plugin_guarded(p, [&] {
      const PluginAdapter& a = of(self);
      const std::vector<PluginType> in = plugin_types(p->in, p->inputs);
      const std::string why = a.op_->refuse(plugin_attributes(p->attributes, p->attribute_count, a.make_tensor_), in);
      if (!why.empty()) throw Error(ErrorKind::unsupported, why);
      return 0;
    });
  }
  static std::int32_t open_fast(void* self, tenfold_plugin_problem* p, void** state) noexcept {
    return plugin_guarded(p, [&] {
      *state = new NetworkAttributes(plugin_attributes(p->attributes, p->attribute_count, of(self).make_tensor_));
      return 0;
    });
  }
  static void close_fast(void*, void* state) noexcept { delete static_cast<NetworkAttributes*>(state); }
  static std::int32_t run_fast(void* self, void* state, tenfold_plugin_run* call) noexcept {
    const PluginTensors in(call->in, call->inputs), out(call->out, call->outputs);
    PluginWorkers workers;
    workers.pool = call;
    workers.run = [](void* pool, std::int64_t parts, void (*part)(void*, std::int64_t), void* context) {
      const auto* run = static_cast<const tenfold_plugin_run*>(pool);
      run->parallel(run, parts, part, context);
    };
    of(self).op_->fast(*static_cast<const NetworkAttributes*>(state), in.span(), out.span(), workers);
    return 0;
  }

  std::shared_ptr<const PluginOperator> op_;
  std::shared_ptr<const PluginGraph> graph_;
  MakeTensor make_tensor_;
  PluginInfo info_;
  std::vector<tenfold_plugin_attribute> attributes_;
  std::vector<tenfold_plugin_tensor> tensors_;
  std::vector<std::vector<const char*>> texts_;
  tenfold_plugin_tactic fast_{};
  std::vector<const tenfold_plugin_tactic*> tactics_;
  tenfold_plugin_operator table_{};
};

// The adapters of a library's plug-ins.
template <class... Plugin>
std::vector<std::shared_ptr<PluginAdapter>> adapted(std::shared_ptr<Plugin>... plugins) {
  return {std::make_shared<PluginAdapter>(std::move(plugins))...};
}

template <class Make>
const tenfold_plugin_library* library_of(const char* name, Make make) noexcept {
  struct Library {
    std::vector<std::shared_ptr<PluginAdapter>> adapters;
    std::vector<const tenfold_plugin_operator*> operators;
    std::string error;
    tenfold_plugin_library table{};
  };
  static const Library library = [&] {
    Library l;
    try {
      l.adapters = make();
      for (const auto& a : l.adapters) l.operators.push_back(&a->table());
    } catch (const std::exception& e) {
      l.error = e.what();
    }
    return l;
  }();
  static const tenfold_plugin_library table{
      sizeof table, TENFOLD_PLUGIN_ABI,       static_cast<std::int32_t>(library.operators.size()),
      name,         library.operators.data(), library.error.empty() ? nullptr : library.error.c_str()};
  return &table;
}

}  // namespace tenfold::plugin_adapter

namespace tenfold {
inline const PluginOperator& plugin_operator(void* self) { return plugin_adapter::PluginAdapter::of(self).op(); }
}  // namespace tenfold
