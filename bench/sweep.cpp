// Random products and convolutions, one-node models of Tenfold (oneDNN off) against oneDNN's own primitives.
//
//   sweep product|convolution FIRST LAST THREADS      a line for each problem of [FIRST, LAST), fields separated by tabs
//   sweep version                                     of oneDNN
//
// Both sides take turns in slices, weights packed and all warm; the least time of a slice counts. Of several primitives of oneDNN
// (matmul, inner product; direct, automatic) the fastest counts. Ours includes the engine around the node.
#include <omp.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "sweep_onednn.h"
#include "tenfold/build.h"
#include "tenfold/network.h"

namespace {

using namespace sweep;
using tenfold::NetworkTensor, tenfold::Tensor;

// [n, c, spatial...] of a tensor stored as [n, spatial..., c], or back.
Shape permutation(std::size_t rank, bool to_channels_second) {
  Shape order;
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  const auto last = static_cast<std::int64_t>(rank) - 1;
  if (to_channels_second)
    order.pop_back(), order.insert(order.begin() + 1, last);
  else
    order.erase(order.begin() + 1), order.push_back(1);
  return order;
}

tenfold::Engine build_engine(const Problem& p, const Tensor& w, const Tensor& bias, int threads, std::string& tactics) {
  tenfold::Network net;
  NetworkTensor y = net.input("x", tenfold::DType::f32, std::vector<tenfold::NetworkDim>(p.x.begin(), p.x.end()));
  const NetworkTensor weight = net.constant(w, "w");
  if (p.kind == Kind::product) {
    y = net.matrix_multiply(y, weight, false, p.transposed);
    if (p.bias) y = net.elementwise(tenfold::Elementwise::sum, y, net.constant(bias, "b"));
  } else {
    y = net.shuffle(y, permutation(p.x.size(), true));
    y = net.convolution(y, weight, p.bias ? net.constant(bias, "b") : NetworkTensor{},
                        {.strides = p.strides, .padding = p.pads, .dilations = p.dilations, .groups = p.groups});
  }
  if (p.after != After::nothing) y = net.activation(p.after == After::relu ? tenfold::Activation::relu : tenfold::Activation::gelu_erf, y);
  if (p.kind == Kind::convolution) y = net.shuffle(y, permutation(p.y.size(), false));
  net.mark_output(y, "y");

  tenfold::BuildConfig config;
  config.threads = threads;
  config.keep_portable_graph = false;
  config.tactic_sources =
      static_cast<std::uint32_t>(tenfold::TacticSource::native) | static_cast<std::uint32_t>(tenfold::TacticSource::reference);
  tenfold::BuildReport report;
  tenfold::Engine engine = tenfold::build(net, config, &report);
  for (const tenfold::StepReport& step : report.steps)
    for (const tenfold::TacticReport& t : step.tried)
      if (t.chosen) tactics += (tactics.empty() ? "" : "; ") + t.tactic + " " + t.config;
  if (engine.info().steps > 1) tactics += " (" + std::to_string(engine.info().steps) + " steps)";
  return engine;
}

// One side of the comparison.
struct Side {
  std::function<void()> call;
  int repeat = 1;
  double min_ns = 1e18;  // nanoseconds of one call
};

// One thread is timed by its own clock, which stands still while others have the processor.
double now(bool own_clock) {
  timespec t;
  clock_gettime(own_clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}
double slice(Side& side, bool own_clock) {
  const double start = now(own_clock);
  for (int i = 0; i < side.repeat; ++i) side.call();
  return (now(own_clock) - start) / side.repeat;
}

void time_in_turns(std::vector<Side>& sides, bool own_clock) {
  double all = 0;
  for (Side& side : sides) {
    side.call();
    double once = slice(side, own_clock);
    for (double spent = once; spent < 5e5; spent += once) once = std::min(once, slice(side, own_clock));   // sleeping workers wake
    side.repeat = static_cast<int>(std::clamp(3e5 / std::max(once, 1.0), 1.0, 1e5));
    all += once * side.repeat;
  }
  const int rounds = static_cast<int>(std::clamp(1e8 / all, 7.0, 25.0));
  // Before a slice that counts, workers wake and those of the other side fall asleep and leave their CPUs.
  const double settle = own_clock ? 0 : 3e6;
  for (int i = 0; i < rounds; ++i)
    for (Side& side : sides) {
      double spent = 0;
      do spent += slice(side, own_clock) * side.repeat;
      while (spent < settle);
      side.min_ns = std::min(side.min_ns, slice(side, own_clock));
    }
}

// The largest difference, relative to the largest value.
double difference(const float* ours, const std::vector<float>& theirs) {
  double worst = 0, largest = 1e-30;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const double d = std::abs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]));
    worst = std::max(worst, std::isnan(d) ? 1e30 : d);
    largest = std::max(largest, std::abs(static_cast<double>(theirs[i])));
  }
  return worst / largest;
}

void compare(Kind kind, int index, int threads) {
  const Problem p = draw(kind, index);
  const Tensor x = random_values(p.x, 1), w = random_values(p.w, 2), bias = p.bias ? random_values({p.y.back()}, 3) : Tensor();
  std::string tactics;
  const tenfold::Engine engine = build_engine(p, w, bias, threads, tactics);
  const auto context = engine.create_context();
  std::copy_n(x.data<float>(), x.size(), static_cast<float*>(context->own_memory(0)));
  const auto* y = static_cast<const float*>(context->own_memory(1));
  auto primitives = onednn_primitives(p, x, w, bias);
  if (primitives.empty()) throw std::runtime_error("oneDNN takes no " + p.text());

  std::vector<Side> sides{{[&] {
    if (!context->run()) std::abort();
  }}};
  for (auto& primitive : primitives) sides.push_back({[&] { primitive->run(); }});
  time_in_turns(sides, threads == 1);
  const auto best = std::min_element(sides.begin() + 1, sides.end(), [](const Side& a, const Side& b) { return a.min_ns < b.min_ns; });
  const auto chosen = static_cast<std::size_t>(best - sides.begin() - 1);
  std::printf("%s\t%d\t%d\t%.0f\t%.0f\t%.1e\t%.0f\t%s\t%s\t%s\n", kind == Kind::product ? "product" : "convolution", index, threads,
              sides[0].min_ns, best->min_ns, difference(y, primitives[chosen]->result()), p.flops(), p.text().c_str(), tactics.c_str(),
              primitives[chosen]->implementation().c_str());
  std::fflush(stdout);
}

// OpenMP's idle workers look for work so many times, by default for 15 ms: beside ours, whose workers would get no processor. Ours look
// for 0.3 ms, and so do these, which the slice that does not count covers. Read when the program starts: hence once more.
void look_shortly(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT")) return;
  setenv("GOMP_SPINCOUNT", "6000", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  try {
    if (verb == "version" && argc == 2) return std::puts(onednn_version().c_str()), 0;
    if ((verb == "product" || verb == "convolution") && argc == 5) {
      const int threads = std::atoi(argv[4]);
      look_shortly(argv);
      omp_set_num_threads(threads);
      for (int i = std::atoi(argv[2]); i < std::atoi(argv[3]); ++i)
        compare(verb == "product" ? Kind::product : Kind::convolution, i, threads);
      return 0;
    }
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "sweep: %s\n", e.what()), 1;
  }
  return std::fprintf(stderr, "usage: sweep product|convolution FIRST LAST THREADS | sweep version\n"), 2;
}
