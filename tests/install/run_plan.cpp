// Runs a plan of y = relu(x) on (-1, 0, 2) and checks the answer: run_plan PLAN. Linked to the runtime library alone.
#include <cstdio>

#include "tenfold/device.h"
#include "tenfold/engine.h"
#include "tenfold/version.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (tenfold::version().empty() || tenfold::devices().empty()) return 3;   // both come with the runtime library
  try {
    const tenfold::Engine engine = tenfold::Engine::load(argv[1]);
    tenfold::Tensor x(tenfold::DType::f32, {3});
    float* values = x.mutable_data<float>();
    values[0] = -1, values[1] = 0, values[2] = 2;
    const tenfold::Tensor y = engine.create_context()->run({x}).at(0);
    const bool right = y.size() == 3 && y.as_double(0) == 0 && y.as_double(1) == 0 && y.as_double(2) == 2;
    std::puts(right ? "right" : "wrong");
    return right ? 0 : 1;
  } catch (const tenfold::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
