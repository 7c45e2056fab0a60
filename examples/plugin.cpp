// A plug-in from end to end: an operator of our own, a model that uses it, a plan, and the plan loaded again.
//
//   plugin snake.onnx          snake.onnx is y = com.example.Snake(x) with alpha = 0.5, for x of f32[batch,4]
#include <cmath>
#include <cstdio>

#include "tenfold/build.h"
#include "tenfold/plugin.h"

using namespace tenfold;

namespace {

// Snake (Ziyin et al. 2020): x + sin(alpha x)^2 / alpha.
class Snake : public PluginOperator {
 public:
  PluginInfo info() const override { return {.domain = "com.example", .name = "Snake", .attributes = {{"alpha", 1.0f}}}; }

  std::vector<PluginType> infer(const NetworkAttributes&, std::span<const PluginType> in) const override {
    if (in[0].dtype != DType::f32) throw Error(ErrorKind::invalid_model, "Snake takes f32");
    return {in[0]};
  }

  void compute(const NetworkAttributes& attributes, std::span<const PluginTensor> in, std::span<const PluginTensor> out) const override {
    part(alpha_of(attributes), in[0], out[0], 0, in[0].size());
  }

  std::string refuse(const NetworkAttributes&, std::span<const PluginType>) const override { return ""; }

  // The same in parts: their number follows from the size alone, so that the bits do not depend on the workers.
  void fast(const NetworkAttributes& attributes, std::span<const PluginTensor> in, std::span<const PluginTensor> out,
            const PluginWorkers& workers) const noexcept override {
    struct Work {
      float alpha;
      PluginTensor x, y;
    } work{alpha_of(attributes), in[0], out[0]};
    const auto one = [](void* context, std::int64_t i) {
      const Work& w = *static_cast<Work*>(context);
      part(w.alpha, w.x, w.y, i * kPart, std::min((i + 1) * kPart, w.x.size()));
    };
    workers.run(workers.pool, (in[0].size() + kPart - 1) / kPart, one, &work);
  }

 private:
  static constexpr std::int64_t kPart = 4096;
  static float alpha_of(const NetworkAttributes& attributes) { return std::get<float>(attributes.at("alpha")); }
  static void part(float alpha, const PluginTensor& x, const PluginTensor& y, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      const float v = x.as<float>()[i], s = std::sin(alpha * v);
      y.as<float>()[i] = v + s * s / alpha;
    }
  }
};

}  // namespace

int main(int count, char** words) try {
  if (count != 2) return std::fprintf(stderr, "usage: plugin MODEL.onnx\n"), 2;
  auto plugins = std::make_shared<Plugins>();
  plugins->add(std::make_shared<Snake>());

  BuildConfig config;
  config.plugins = plugins;
  config.profiles = {{{"x", {{1, 4}, {2, 4}, {8, 4}}}}};
  build_file(words[1], config).save("snake.plan");

  try {
    Engine::load("snake.plan");
  } catch (const Error& e) {
    std::printf("without the plug-in: %s\n", e.what());
  }
  LoadOptions options;
  options.plugins = plugins;
  const Engine engine = Engine::load("snake.plan", options);
  Tensor x(DType::f32, {2, 4});
  for (int i = 0; i < 8; ++i) x.mutable_data<float>()[i] = static_cast<float>(i) - 4;
  const Tensor y = engine.create_context()->run({x})[0];
  for (int i = 0; i < 8; ++i) std::printf("%g%s", static_cast<double>(y.data<float>()[i]), i == 7 ? "\n" : " ");
} catch (const Error& e) {
  std::fprintf(stderr, "plugin: %s\n", e.what());
  return 1;
}
