// What the files of the C interface share: handles, and the translation of arguments and errors. They hold no logic.
#pragma once

#include <cstring>
#include <new>

#include "base/check.h"
#include "tenfold/build.h"
#include "tenfold/c_api.h"
#include "tenfold/network.h"

#define TENFOLD_C extern "C" __attribute__((visibility("default")))

struct tenfold_network {
  tenfold::Network network;
  std::vector<tenfold::NetworkTensor> values;
};
struct tenfold_engine {
  tenfold::Engine engine;
  std::vector<tenfold::WeightInfo> weights = engine.refittable_weights();
};

namespace tenfold::c {

// Remembers the text for tenfold_last_error() and gives the status back.
tenfold_status failed(tenfold_status status, const char* text) noexcept;
DType dtype_of(const char* text);
Shape shape_of(const std::int64_t* dims, std::int32_t rank);
// A copy of the caller's dense tensor; `what` names it in errors.
Tensor tensor_of(const char* dtype, const std::int64_t* dims, std::int32_t rank, const void* data, std::size_t bytes, const char* what);

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

// The caller's struct, fields that it does not know yet as zero.
template <class T>
T taken(const T* from, const char* what) {
  const std::size_t size = need(from, what).struct_size;
  require(size >= sizeof(std::size_t) && size <= 4096, ErrorKind::invalid_argument, what, " has no struct_size");
  T copy{};
  std::memcpy(&copy, from, std::min(size, sizeof(T)));
  return copy;
}

inline LogCallback log_of(void (*log)(void*, std::int32_t, const char*), void* user) {
  if (!log) return {};
  return [log, user](Severity severity, std::string_view text) {
    log(user, static_cast<std::int32_t>(severity), std::string(text).c_str());
  };
}

// Information for the caller, as much as his struct has room for.
template <class T>
void give(T* to, T full, const char* what) {
  const std::size_t room = need(to, what).struct_size;
  require(room >= sizeof(std::size_t), ErrorKind::invalid_argument, "struct_size is not set");
  full.struct_size = room;
  std::memcpy(to, &full, std::min(room, sizeof full));
}

template <class Make>
tenfold_status make_engine(tenfold_engine** engine, Make make) noexcept {
  return guarded([&] { need(engine, "the place for the engine") = new tenfold_engine{make()}; });
}

}  // namespace tenfold::c
