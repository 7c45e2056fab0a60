// Usage: behind_passes DEVICE [fp16] < GRAPH     DEVICE: cpu, or a GPU by its compute capability times ten (90)
//
// Prints a graph as the passes for that device leave it, with the types of results. No such device is needed. GRAPH is a text such as
// BuildConfig::dump gets behind the import; constants of more than 16 elements get random values.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <stdexcept>

#include "ir/lineage.h"
#include "passes/pipeline.h"
#include "pictures.h"

namespace {

using namespace tenfold;

std::string behind_passes(const std::string& device, bool fp16, const std::string& text) {
  backends::DeviceInfo info{.kind = "cpu", .features = backends::kAvx2};
  if (device != "cpu") info = {.kind = "cuda", .arch = std::stoi(device)};
  BuildConfig config;
  config.fp16 = fp16;
  ir::Graph graph = tests::parse_picture(text);
  ir::start_names(graph, "import");
  const passes::PrecisionFacts facts{.types = passes::own_types(graph)};
  passes::run(graph, passes::pipeline_for(info, config, facts).in_order());
  return ir::print(graph, {.types = true});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string second = argc > 2 ? argv[2] : "fp16";
  if (argc < 2 || argc > 3 || second != "fp16") return std::fputs("usage: behind_passes DEVICE [fp16] < GRAPH\n", stderr), 2;
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  try {
    std::cout << behind_passes(argv[1], argc == 3, text);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
