// What the files of the C interface share: handles, and the translation of arguments and errors. They hold no logic.
#pragma once

#include <cstring>
#include <new>

#include "base/check.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/log.h"
#include "tenfold/c/run.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/engine.h"
#include "tenfold/fallback_chain.h"
#include "tenfold/model_error.h"
#include "tenfold/plan_cache.h"
#include "tenfold/runtime.h"
#include "tenfold/value.h"

struct tenfold_engine {
  tenfold::Engine engine;
  std::vector<tenfold::WeightInfo> weights = engine.refittable_weights();
  std::vector<std::pair<std::string, std::string>> labels{engine.labels().begin(), engine.labels().end()};
};
struct tenfold_context {
  tenfold::Engine engine;
  std::unique_ptr<tenfold::ExecutionContext> context;
};
struct tenfold_data {
  tenfold::RuntimeValue value;
};
struct tenfold_plan_cache {
  tenfold::PlanCache cache;
};
struct tenfold_runtime {
  std::shared_ptr<tenfold::Runtime> runtime;
};
struct tenfold_fallback_chain {
  std::vector<tenfold::EngineCandidate> candidates;              // until the first is opened
  std::optional<tenfold::FallbackChain> fallback_chain;
};

namespace tenfold::c {

inline constexpr tenfold_status kRun = 100;   // codes of runs: kRun + Status::Code
inline tenfold_status run_status(Status::Code code) noexcept { return kRun + static_cast<tenfold_status>(code); }

// What a callback's status means as an error.
inline ErrorKind kind_of(tenfold_status status) {
  return status >= TENFOLD_INVALID_ARGUMENT && status <= TENFOLD_INTERNAL ? static_cast<ErrorKind>(status - 1) : ErrorKind::cancelled;
}

// Remembers the text for tenfold_last_error(), and the problems of a model for tenfold_last_problems(); gives the status back.
tenfold_status failed(tenfold_status status, const char* text, const std::vector<ModelProblem>& problems = {}) noexcept;
const std::vector<ModelProblem>& last_problems() noexcept;  // of this thread
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
  } catch (const ModelError& error) {
    return failed(static_cast<tenfold_status>(error.kind()) + 1, error.what(), error.problems());
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

inline LogCallback log_of(tenfold_log_function log, void* user) {
  if (!log) return {};
  return [log, user](Severity severity, std::string_view text) {
    log(user, static_cast<std::int32_t>(severity), std::string(text).c_str());
  };
}

// A run's status as C has it, its text remembered.
tenfold_status outcome(const ExecutionContext& context, Status status) noexcept;

// A handle, made only where there is a place for it.
template <class T, class Make>
void place(T** to, const char* what, Make make) {
  T*& there = need(to, what);
  there = make();
}

// Element `index` of a list, which `what` names in errors.
template <class List>
auto& element(List& list, std::int32_t index, const char* what) {
  require(index >= 0 && static_cast<std::size_t>(index) < list.size(), ErrorKind::invalid_argument, "there is no ", what, " ", index);
  return list[static_cast<std::size_t>(index)];
}

// As much of a list as there is room for at `to`; `count`: room, then how many there are.
template <class T, class List>
void give_list(const List& list, T* to, std::int32_t* count, const char* what) {
  const std::int32_t room = need(count, "the place for the count");
  require(room >= 0 && (room == 0 || to), ErrorKind::invalid_argument, "there is no place for ", what);
  for (std::size_t i = 0; i < list.size() && i < static_cast<std::size_t>(room); ++i) to[i] = list[i];
  *count = static_cast<std::int32_t>(list.size());
}

LoadOptions options_of(const tenfold_load_options* given);
RunOptions options_of(const tenfold_run_options* given);
inline std::shared_ptr<Runtime> runtime_of(const tenfold_runtime* runtime) { return runtime ? runtime->runtime : nullptr; }

inline tenfold_binding_info information(const BindingInfo& b) {
  // name() gives literals, so their text ends in a zero.
  return {0, b.name.c_str(), name(b.dtype).data(), b.shape.data(), static_cast<std::int32_t>(b.shape.size()), b.is_input, b.has_default};
}
// "batch"; null for what is none.
inline const char* symbol_of(const std::vector<BindingInfo>& bindings, std::int32_t binding, std::int32_t dim) {
  if (binding < 0 || static_cast<std::size_t>(binding) >= bindings.size()) return nullptr;
  const auto& names = bindings[static_cast<std::size_t>(binding)].names;
  return dim >= 0 && static_cast<std::size_t>(dim) < names.size() ? names[static_cast<std::size_t>(dim)].c_str() : nullptr;
}
inline tenfold_note information(const Note& n) {
  return {0, static_cast<std::int32_t>(n.severity), static_cast<std::int32_t>(n.kind), n.step.c_str(), n.text.c_str()};
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
  return guarded([&] { place(engine, "the place for the engine", [&] { return new tenfold_engine{make()}; }); });
}

}  // namespace tenfold::c
