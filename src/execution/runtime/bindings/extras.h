// What a context has for bindings beyond plain memory: strides, states, allocators. Contexts without any have none of this.
#pragma once

#include "runtime/context.h"
#include "tenfold/bindings.h"

namespace tenfold::runtime {

// Memory of the caller's with strides.
struct Border {
  void* base = nullptr;                       // null: none
  std::int64_t bytes = 0;
  std::vector<std::int64_t> strides;
  bool copied = false;                        // the strides are not dense at the shapes set
  bool on_device = false;
};
// An output whose content is the next run's input.
struct StateLink {
  std::size_t in = 0, out = 0;
  DynamicBuffer places[2];                      // the second one empty: in place
  Shape next;                                 // of the input in the next run, once one has made it
  bool pending = false;
};
struct Allocator {
  OutputAllocator allocate = nullptr;
  void* user = nullptr;
  bool late = false;                          // the run decides the size
};
struct Extras {
  std::vector<Border> borders;                // by binding
  std::vector<Allocator> allocators;          // by binding
  std::vector<StateLink> states;
  std::vector<Shape> expected;                // by binding: of the tensor that is bound there; empty: not told
  std::vector<char> copied;                   // by binding: elements were copied in the last run
  bool outputs_wait = false;                  // what was enqueued leaves outputs to be copied
};

Extras& extras_of(ContextState& context);     // made at first use; throws bad_alloc
// Strides that fit the shapes set: dense ones are bound as they are. When shapes or addresses have changed.
Status prepare_borders(ContextState& context) noexcept;
Status copy_borders(ContextState& context, bool inputs, bool on_device) noexcept;   // those in the device's memory, or the host's
// Early: before the steps, where the size is known. Late: behind them.
Status call_allocators(ContextState& context, bool late) noexcept;
Status advance_states(ContextState& context) noexcept;
void take_next_shapes(ContextState& context) noexcept;                     // that the last run gave states
void forget_next_shape(ContextState& context, std::size_t binding) noexcept;   // the caller sets it
bool holds_state(const ContextState& context, std::size_t binding) noexcept;
Status check_expected(ContextState& context);                              // outputs suit the tensors that they are bound to
void forget_extras(ContextState& context, std::size_t binding) noexcept;   // the caller binds it otherwise
bool is_plain(const ContextState& context, std::size_t binding) noexcept;  // there is nothing to forget
void use_own_memory(ContextState& context, std::size_t binding);           // throws out_of_memory

// Between runs: what was enqueued comes to its end where the host has copies to make for it, before bindings or shapes change, or another
// run is enqueued.
void before_changes(ContextState& context) noexcept;
Status before_enqueuing(ContextState& context) noexcept;
Status before_preparing(ContextState& context) noexcept;
// The moments of a run: before it is settled, before its steps, when they were asked for, when all is done.
Status before_preparing_run(ContextState& context) noexcept;
Status before_steps(ContextState& context) noexcept;
Status after_steps(ContextState& context) noexcept;
Status after_run(ContextState& context) noexcept;

}  // namespace tenfold::runtime
