// The roofline model, and what data sheets say of GPUs.
#include "report/roof.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tenfold::cli {
namespace {

// Dense TFLOP/s (no sparsity) and GB/s as NVIDIA's data sheets give them for boost clocks. 0: the device has no such units.
struct Sheet {
  std::string_view name;
  double f32, tf32, f16, i8, f8, gb_s;
};
constexpr std::array kSheets{Sheet{"H200", 67, 495, 989, 1979, 1979, 4800},
                             Sheet{"H100 80GB HBM3", 67, 495, 989, 1979, 1979, 3350},
                             Sheet{"H100 PCIe", 51, 378, 756, 1513, 1513, 2000},
                             Sheet{"A100-SXM4-80GB", 19.5, 156, 312, 624, 0, 2039},
                             Sheet{"A100 80GB PCIe", 19.5, 156, 312, 624, 0, 1935},
                             Sheet{"A100-SXM4-40GB", 19.5, 156, 312, 624, 0, 1555},
                             Sheet{"L40S", 91.6, 183, 362, 733, 733, 864},
                             Sheet{"NVIDIA L4", 30.3, 60, 121, 242, 242, 300},
                             Sheet{"Tesla T4", 8.1, 0, 65, 130, 0, 320},
                             Sheet{"NVIDIA A10", 31.2, 62.5, 125, 250, 0, 600},
                             Sheet{"V100-SXM2", 15.7, 0, 125, 0, 0, 900}};

const RoofMemory& level(const Roof& roof, std::int64_t bytes) {
  for (const RoofMemory& m : roof.memory)
    if (m.up_to_bytes < 0 || bytes <= m.up_to_bytes) return m;
  return roof.memory.back();
}

}  // namespace

double Roof::gb_s(std::int64_t footprint) const { return memory.empty() ? 0 : level(*this, footprint).gb_s; }

std::optional<Roof> data_sheet_roof(const std::string& device_name) {
  for (const Sheet& s : kSheets) {
    if (!device_name.ends_with(s.name)) continue;
    Roof roof{"NVIDIA's data sheet of " + std::string(s.name) +
                  ": dense peaks at boost clocks and the bandwidth of its memory; nothing "
                  "was measured here, and steps whose data stays in the GPU's caches may be faster than this roof",
              {},
              {{"memory", -1, s.gb_s}}};
    const std::pair<const char*, double> peaks[] = {{"f32", s.f32}, {"tf32", s.tf32},  {"f16", s.f16}, {"bf16", s.tf32 > 0 ? s.f16 : 0},
                                                    {"i8", s.i8},   {"f8e4m3fn", s.f8}};
    for (const auto& [type, tflops] : peaks)
      if (tflops > 0) roof.gflops[type] = tflops * 1e3;
    return roof;
  }
  return {};
}

std::optional<StepRoof> roof_of(const Roof& roof, const StepLoad& load) {
  if (roof.memory.empty()) return {};
  const RoofMemory& near = level(roof, load.constants + load.activations);
  const RoofMemory& far = level(roof, std::max(load.footprint, load.constants));
  const double constants_ms = static_cast<double>(load.constants) / far.gb_s / 1e6;
  const double activations_ms = static_cast<double>(load.activations) / near.gb_s / 1e6;
  StepRoof result{constants_ms + activations_ms, constants_ms > activations_ms ? far.of : near.of};
  if (load.flops == 0) return result;
  const auto peak = roof.gflops.find(load.type);
  if (peak == roof.gflops.end()) return {};
  const double compute_ms = static_cast<double>(load.flops) / peak->second / 1e6;
  return compute_ms > result.ms ? StepRoof{compute_ms, load.type + " arithmetic"} : result;
}

}  // namespace tenfold::cli
