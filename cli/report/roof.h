// How fast the machine can be at best: arithmetic by type, and memory by how much data is moved again and again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenfold::cli {

struct RoofMemory {
  std::string of;
  std::int64_t up_to_bytes = -1;
  double gb_s = 0;
};  // -1: of any size
struct Roof {
  std::string source;                    // in words, for readers: measured how, or whose figures
  std::map<std::string, double> gflops;  // by type of the operands: "f32", "tf32", "i8"
  std::vector<RoofMemory> memory;        // from the smallest
  double gb_s(std::int64_t footprint) const;
};

// Takes about half a second on `threads` threads. Throws nothing but std::bad_alloc and std::system_error.
Roof measure_cpu_roof(int threads);
// From the data sheet of a GPU of this name; nothing if it is in no table here.
std::optional<Roof> data_sheet_roof(const std::string& device_name);

// The least time for a step. `constants` were last read a whole run ago, so that they come from where all of the plan's data fits
// (`footprint`); activations from where the step's own data fits.
struct StepRoof {
  double ms = 0;
  std::string by;
};  // "f32 arithmetic", "L2", "memory"
struct StepLoad {
  std::int64_t flops = 0, constants = 0, activations = 0, footprint = 0;
  std::string type;
};
// Nothing where the peak of that type is not known.
std::optional<StepRoof> roof_of(const Roof& roof, const StepLoad& load);

}  // namespace tenfold::cli
