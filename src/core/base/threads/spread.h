// spread: one large piece of work on several threads, started for it. Only where plans are made and loaded: a run has its pool.
#pragma once

#include <cstdint>
#include <functional>

namespace tenfold {

// While one lives in a thread, spread() there may start others; without it everything happens in the calling thread.
class MaySpread {
 public:
  MaySpread() noexcept;
  ~MaySpread();
  MaySpread(const MaySpread&) = delete;
  MaySpread& operator=(const MaySpread&) = delete;
};

// work(part) once for each part in [0, parts), concurrently; `bytes`: of memory that all of it touches. What it throws comes through.
void spread(std::int64_t parts, std::int64_t bytes, const std::function<void(std::int64_t part)>& work);

// work(begin, end) on stretches of [0, count), each a multiple of `step` but the last.
void spread_stretches(std::int64_t count, std::int64_t step, std::int64_t bytes,
                      const std::function<void(std::int64_t begin, std::int64_t end)>& work);

}  // namespace tenfold
