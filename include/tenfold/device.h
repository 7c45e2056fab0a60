// What this build of Tenfold is and what machine it runs on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

std::string_view version();                                       // "0.1.0"

struct DeviceDescription {
  std::string device;                                             // as BuildConfig::device takes it: "cpu"
  std::string name;                                               // "AMD EPYC 7B13"
  std::string features;                                           // "avx2 avx512 vnni": what kernels are chosen by
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;          // data caches; l1 and l2 of one core
  int threads = 0;                                                // what this process may use
  std::vector<std::string> libraries;                             // optional kernel libraries: "oneDNN 2.6.3", or why there is none
};
std::vector<DeviceDescription> devices();

// The bits for BuildConfig::cpu_features and LoadOptions::cpu_features: "avx2,avx512". Throws invalid_argument naming the word.
std::uint32_t parse_cpu_features(std::string_view text);

}  // namespace tenfold
