// Pieces of work in processes of their own, so that one that dies or hangs takes no other with it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tenfold::cli {

struct Outcome {
  std::string answer;   // what the work returned
  std::string died;     // empty, or what became of the process instead: "ended by signal 11 (Segmentation fault)"
  double seconds = 0;
};

// Calls work(i) for each of `items`, in their order, in up to `jobs` processes that are forked from this one, which has no threads yet;
// and done(i, ...) here, as they end. A piece of work that takes longer than `limit_s` is ended. Throws Error(io) if no process starts.
void in_processes(const std::vector<std::size_t>& items, int jobs, double limit_s, const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const Outcome&)>& done);

}  // namespace tenfold::cli
