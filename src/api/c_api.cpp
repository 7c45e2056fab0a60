// The C interface over the C++ one: no logic, only translation of arguments and of errors.
#include "tenfold/c_api.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.h"
#include "tenfold/build.h"
#include "tenfold/network.h"

using namespace tenfold;

struct tenfold_network {
  Network network;
  std::vector<NetworkTensor> values;
};
struct tenfold_engine {
  Engine engine;
};
struct tenfold_context {
  Engine engine;
  std::unique_ptr<ExecutionContext> context;
};

namespace {

thread_local std::string last_error;

tenfold_status failed(tenfold_status status, const char* text) noexcept {
  try {
    last_error = text;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

// Runs `act` and turns what it throws into a status: nothing leaves a C function as an exception.
template <class Act>
tenfold_status guarded(Act act) noexcept {
  try {
    act();
    return TENFOLD_OK;
  } catch (const Error& error) {
    return failed(static_cast<tenfold_status>(error.kind()) + 1, error.what());
  } catch (const std::bad_alloc&) {
    return failed(TENFOLD_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return failed(TENFOLD_INTERNAL, error.what());
  } catch (...) {
    return failed(TENFOLD_INTERNAL, "an unknown exception");
  }
}

template <class T>
T& need(T* pointer, const char* what) {
  require(pointer != nullptr, ErrorKind::invalid_argument, what, " is null");
  return *pointer;
}

tenfold_status outcome(const ExecutionContext& context, Status status) noexcept {
  if (status) return TENFOLD_OK;
  std::string text;
  try {
    text = context.describe(status);
  } catch (...) {
  }
  return failed(TENFOLD_RUN_FAILED + static_cast<tenfold_status>(status.code), text.c_str());
}

// The caller's struct, fields that it does not know yet as zero.
template <class T>
T taken(const T* from, const char* what) {
  const std::size_t size = need(from, what).struct_size;
  require(size >= sizeof(std::size_t) && size <= 4096, ErrorKind::invalid_argument, what, " has no struct_size");
  T copy{};
  std::memcpy(&copy, from, std::min(size, sizeof(T)));
  return copy;
}

DType dtype_of(const char* text) {
  const auto type = dtype_from_name(&need(text, "dtype"));
  require(type.has_value(), ErrorKind::invalid_argument, "there is no element type '", text, "'");
  return *type;
}

Shape shape_of(const std::int64_t* dims, std::int32_t rank) {
  require(rank >= 0 && rank <= 64 && (rank == 0 || dims), ErrorKind::invalid_argument, "a shape of rank ", rank);
  return Shape(dims, dims + rank);
}

NetworkTensor value_of(const tenfold_network& net, tenfold_value value) {
  if (value == -1) return {};
  require(value >= 0 && value < static_cast<tenfold_value>(net.values.size()), ErrorKind::invalid_argument, "there is no value ", value);
  return net.values[static_cast<std::size_t>(value)];
}

tenfold_value handle(tenfold_network& net, NetworkTensor value) {
  net.values.push_back(value);
  return static_cast<tenfold_value>(net.values.size() - 1);
}

NetworkAttribute attribute_of(const tenfold_attribute& a) {
  const auto text = [&](std::size_t i) {
    need(a.strings, "an attribute's strings");
    return std::string(&need(a.strings[i], "a string of an attribute"));
  };
  const auto list = [&](auto* data) {
    if (a.count) need(data, "an attribute's values");
    return std::vector(data, data + a.count);
  };
  switch (a.kind) {
    case TENFOLD_ATTRIBUTE_INT: return need(a.ints, "an attribute's value");
    case TENFOLD_ATTRIBUTE_FLOAT: return need(a.floats, "an attribute's value");
    case TENFOLD_ATTRIBUTE_STRING: return text(0);
    case TENFOLD_ATTRIBUTE_INTS: return list(a.ints);
    case TENFOLD_ATTRIBUTE_FLOATS: return list(a.floats);
    case TENFOLD_ATTRIBUTE_STRINGS: {
      std::vector<std::string> all;
      for (std::size_t i = 0; i < a.count; ++i) all.push_back(text(i));
      return all;
    }
    default: fail(ErrorKind::invalid_argument, cat("attribute '", a.name, "' has the kind ", a.kind));
  }
}

BuildConfig config_of(const tenfold_build_config* given) {
  BuildConfig config;
  if (!given) return config;
  const tenfold_build_config c = taken(given, "the build configuration");
  if (c.device) config.device = c.device;
  config.threads = c.threads;
  if (c.optimization_level >= 0) config.optimization_level = c.optimization_level;
  config.bf16 = c.allow_bf16 != 0;
  if (c.timing_cache) config.timing_cache = c.timing_cache;
  if (c.range_count > 0) need(c.ranges, "ranges");
  const auto* at = reinterpret_cast<const char*>(c.ranges);
  for (std::int32_t i = 0; i < c.range_count; ++i) {  // the caller's structs are as far apart as they are large
    const tenfold_range r = taken(reinterpret_cast<const tenfold_range*>(at), "a range");
    at += reinterpret_cast<const tenfold_range*>(at)->struct_size;
    require(r.profile >= 0 && r.profile <= static_cast<std::int32_t>(config.profiles.size()), ErrorKind::invalid_argument,
            "a range of profile ", r.profile, " comes before profile ", config.profiles.size());
    if (r.profile == static_cast<std::int32_t>(config.profiles.size())) config.profiles.emplace_back();
    config.profiles[static_cast<std::size_t>(r.profile)][&need(r.input, "a range's input")] = {
        shape_of(r.min, r.rank), shape_of(r.opt, r.rank), shape_of(r.max, r.rank)};
  }
  if (c.log)
    config.log = [log = c.log, user = c.log_user](Severity severity, std::string_view text) {
      log(user, static_cast<std::int32_t>(severity), std::string(text).c_str());
    };
  return config;
}

template <class Make>
tenfold_status make_engine(tenfold_engine** engine, Make make) noexcept {
  return guarded([&] { need(engine, "the place for the engine") = new tenfold_engine{make()}; });
}

}  // namespace

extern "C" {

#define TENFOLD_C __attribute__((visibility("default")))

TENFOLD_C const char* tenfold_last_error(void) { return last_error.c_str(); }
TENFOLD_C const char* tenfold_version(void) { return TENFOLD_VERSION; }

TENFOLD_C tenfold_status tenfold_network_create(const char* name, tenfold_network** network) {
  return guarded([&] { need(network, "the place for the network") = new tenfold_network{Network(name ? name : "network"), {}}; });
}
TENFOLD_C void tenfold_network_free(tenfold_network* network) { delete network; }

TENFOLD_C tenfold_status tenfold_network_input(tenfold_network* network, const char* name, const char* dtype, const int64_t* dims,
                                               const char* const* names, int32_t rank, tenfold_value* value) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    const Shape extents = shape_of(dims, rank);
    std::vector<NetworkDim> list;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] >= 0)
        list.emplace_back(extents[i]);
      else
        list.emplace_back(std::string(&need(names ? names[i] : nullptr, "the name of a dynamic dimension")));
    }
    need(value, "the place for the value") = handle(net, net.network.input(&need(name, "the input's name"), dtype_of(dtype), list));
  });
}

TENFOLD_C tenfold_status tenfold_network_constant(tenfold_network* network, const char* name, const char* dtype, const int64_t* dims,
                                                  int32_t rank, const void* data, size_t bytes, tenfold_value* value) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    const DType type = dtype_of(dtype);
    require(type != DType::string, ErrorKind::unsupported, "constants of strings");
    const Shape shape = shape_of(dims, rank);
    const std::int64_t wanted = byte_size(type, element_count(shape));
    require(static_cast<std::uint64_t>(wanted) == bytes && (data || bytes == 0), ErrorKind::invalid_argument, "a constant of ", wanted,
            " bytes is given ", bytes);
    Tensor tensor(type, shape);
    if (bytes) std::memcpy(tensor.mutable_raw(), data, bytes);
    need(value, "the place for the value") = handle(net, net.network.constant(std::move(tensor), name ? name : ""));
  });
}

TENFOLD_C tenfold_status tenfold_network_add_node(tenfold_network* network, const char* op, const char* name, const tenfold_value* inputs,
                                                  int32_t input_count, const tenfold_attribute* attributes, int32_t attribute_count,
                                                  tenfold_value* values, int32_t output_count) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    require(input_count >= 0 && attribute_count >= 0 && output_count >= 0 && (input_count == 0 || inputs) &&
                (attribute_count == 0 || attributes) && (output_count == 0 || values),
            ErrorKind::invalid_argument, "a count is negative or a list is null");
    Network::Tensors operands;
    for (std::int32_t i = 0; i < input_count; ++i) operands.push_back(value_of(net, inputs[i]));
    NetworkAttributes own;
    const auto* at = reinterpret_cast<const char*>(attributes);
    for (std::int32_t i = 0; i < attribute_count; ++i) {
      const tenfold_attribute a = taken(reinterpret_cast<const tenfold_attribute*>(at), "an attribute");
      at += reinterpret_cast<const tenfold_attribute*>(at)->struct_size;
      own[&need(a.name, "an attribute's name")] = attribute_of(a);
    }
    const Network::Tensors results = net.network.add_node(&need(op, "the operator"), operands, own, output_count, name ? name : "");
    for (std::int32_t i = 0; i < output_count; ++i) values[i] = handle(net, results[static_cast<std::size_t>(i)]);
  });
}

TENFOLD_C tenfold_status tenfold_network_output(tenfold_network* network, tenfold_value value, const char* name) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    net.network.mark_output(value_of(net, value), &need(name, "the output's name"));
  });
}

TENFOLD_C tenfold_status tenfold_build_file(const char* path, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] { return build_file(&need(path, "the path"), config_of(config)); });
}
TENFOLD_C tenfold_status tenfold_build_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] {
    return build_bytes({&need(static_cast<const std::byte*>(onnx), "the model"), bytes}, config_of(config));
  });
}
TENFOLD_C tenfold_status tenfold_build_network(const tenfold_network* network, const tenfold_build_config* config,
                                               tenfold_engine** engine) {
  return make_engine(engine, [&] { return build(need(network, "the network").network, config_of(config)); });
}

TENFOLD_C tenfold_status tenfold_engine_load(const char* path, tenfold_engine** engine) {
  return make_engine(engine, [&] { return Engine::load(std::string(&need(path, "the path"))); });
}
TENFOLD_C tenfold_status tenfold_engine_save(const tenfold_engine* engine, const char* path) {
  return guarded([&] { need(engine, "the engine").engine.save(&need(path, "the path")); });
}
TENFOLD_C void tenfold_engine_free(tenfold_engine* engine) { delete engine; }
TENFOLD_C int32_t tenfold_engine_bindings(const tenfold_engine* engine) {
  return engine ? static_cast<int32_t>(engine->engine.bindings().size()) : 0;
}
TENFOLD_C tenfold_status tenfold_engine_binding(const tenfold_engine* engine, int32_t binding, tenfold_binding_info* info) {
  return guarded([&] {
    const auto& all = need(engine, "the engine").engine.bindings();
    require(binding >= 0 && binding < static_cast<int32_t>(all.size()), ErrorKind::invalid_argument, "there is no binding ", binding);
    const BindingInfo& b = all[static_cast<std::size_t>(binding)];
    const std::size_t room = need(info, "the place for the information").struct_size;
    require(room >= sizeof(std::size_t), ErrorKind::invalid_argument, "struct_size is not set");
    // name() gives literals, so their text ends in a zero.
    const tenfold_binding_info full{room,      b.name.c_str(), name(b.dtype).data(), b.shape.data(), static_cast<int32_t>(b.shape.size()),
                                    b.is_input};
    std::memcpy(info, &full, std::min(room, sizeof full));
  });
}

TENFOLD_C tenfold_status tenfold_context_create(const tenfold_engine* engine, tenfold_context** context) {
  return guarded([&] {
    const Engine& own = need(engine, "the engine").engine;
    need(context, "the place for the context") = new tenfold_context{own, own.create_context()};
  });
}
TENFOLD_C void tenfold_context_free(tenfold_context* context) { delete context; }

TENFOLD_C tenfold_status tenfold_context_set_shape(tenfold_context* context, int32_t input, const int64_t* shape, int32_t rank) {
  if (!context || rank < 0 || (rank > 0 && !shape)) return failed(TENFOLD_INVALID_ARGUMENT, "a null context or shape");
  return outcome(*context->context, context->context->set_input_shape(input, {shape, static_cast<std::size_t>(rank)}));
}
TENFOLD_C tenfold_status tenfold_context_shape(const tenfold_context* context, int32_t binding, int64_t* shape, int32_t* rank) {
  if (!context || !rank || *rank < 0 || (*rank > 0 && !shape)) return failed(TENFOLD_INVALID_ARGUMENT, "a null context, shape or rank");
  int known = 0;
  const Status status = context->context->shape(binding, {shape, static_cast<std::size_t>(*rank)}, known);
  if (status) *rank = known;
  return outcome(*context->context, status);
}
TENFOLD_C tenfold_status tenfold_context_bind(tenfold_context* context, int32_t binding, void* memory, size_t bytes) {
  if (!context || bytes > INT64_MAX) return failed(TENFOLD_INVALID_ARGUMENT, "a null context, or memory that is too large");
  return outcome(*context->context, context->context->bind(binding, memory, static_cast<std::int64_t>(bytes)));
}
TENFOLD_C tenfold_status tenfold_context_memory(tenfold_context* context, int32_t binding, void** memory) {
  return guarded([&] { need(memory, "the place for the address") = need(context, "the context").context->own_memory(binding); });
}
TENFOLD_C tenfold_status tenfold_context_run(tenfold_context* context) {
  if (!context) return failed(TENFOLD_INVALID_ARGUMENT, "the context is null");
  return outcome(*context->context, context->context->run());
}
TENFOLD_C void tenfold_context_cancel(tenfold_context* context) {
  if (context) context->context->cancel();
}

}  // extern "C"
