// Parallel: run `parts` independent pieces of work on whatever workers there are. Parts are fixed by the kernel, never by the
// number of workers, so results do not depend on the machine's load.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tenfold {

class Parallel {
 public:
  using Function = void (*)(void* context, std::int64_t part, int worker) noexcept;
  virtual ~Parallel() = default;
  // Calls function(context, part, worker) once for every part in [0, parts); returns when all are done.
  // `worker` < workers() tells concurrent calls apart: index per-worker scratch with it. Never allocates.
  virtual void run(std::int64_t parts, Function function, void* context) noexcept = 0;
  virtual int workers() const noexcept = 0;

  // f(part, worker); f is called concurrently and must be noexcept in spirit.
  template <class F>
  void for_each(std::int64_t parts, F&& f) noexcept {
    run(parts, [](void* context, std::int64_t part, int worker) noexcept {
      (*static_cast<std::remove_reference_t<F>*>(context))(part, worker);
    }, const_cast<void*>(static_cast<const void*>(&f)));
  }
};

// Runs everything in the calling thread, in order.
class Serial final : public Parallel {
 public:
  void run(std::int64_t parts, Function function, void* context) noexcept override {
    for (std::int64_t part = 0; part < parts; ++part) function(context, part, 0);
  }
  int workers() const noexcept override { return 1; }
};

inline constexpr int kMaxWorkers = 256;   // the largest pool

}  // namespace tenfold
