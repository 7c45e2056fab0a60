// A plug-in library in C++ that another compiler builds with another C++ library (clang and libc++): test.Clamp, which
// throws, and test.Twice, a graph.
#include <algorithm>

#include "tenfold/plugin.h"

namespace {

using namespace tenfold;

class Clamp : public PluginOperator {
 public:
  PluginInfo info() const override {
    return {.domain = "test",
            .name = "Clamp",
            .attributes = {{"ends", std::vector<float>{-1, 1}}, {"label", std::string("none")}}};
  }
  std::vector<PluginType> infer(const NetworkAttributes& attributes, std::span<const PluginType> in) const override {
    const auto& ends = std::get<std::vector<float>>(attributes.at("ends"));
    if (ends.size() != 2)
      throw Error(ErrorKind::invalid_model, "Clamp wants two ends, not " + std::to_string(ends.size()));
    return {{in[0].dtype, in[0].dims}};
  }
  void compute(const NetworkAttributes& attributes, std::span<const PluginTensor> in,
               std::span<const PluginTensor> out) const override {
    part(attributes, in[0], out[0], 0, in[0].size());
  }
  std::string refuse(const NetworkAttributes&, std::span<const PluginType> in) const override {
    return in[0].dtype == DType::f32 ? "" : "it takes f32";
  }
  void fast(const NetworkAttributes& attributes, std::span<const PluginTensor> in, std::span<const PluginTensor> out,
            const PluginWorkers& workers) const noexcept override {
    struct Work {
      const NetworkAttributes& attributes;
      PluginTensor x, y;
    } work{attributes, in[0], out[0]};
    workers.run(
        workers.pool, (in[0].size() + 255) / 256,
        [](void* context, std::int64_t i) {
          const Work& w = *static_cast<Work*>(context);
          part(w.attributes, w.x, w.y, i * 256, std::min(i * 256 + 256, w.x.size()));
        },
        &work);
  }

 private:
  static void part(const NetworkAttributes& attributes, const PluginTensor& x, const PluginTensor& y,
                   std::int64_t first, std::int64_t end) {
    const auto& ends = std::get<std::vector<float>>(attributes.at("ends"));
    for (std::int64_t i = first; i < end; ++i) y.as<float>()[i] = std::clamp(x.as<float>()[i], ends[0], ends[1]);
  }
};

class Twice : public PluginGraph {
 public:
  PluginInfo info() const override { return {.domain = "test", .name = "Twice"}; }
  std::string expand(const NetworkAttributes&, std::span<const PluginType>) const override {
    return "y = Add(in0, in0)\nreturn y";
  }
};

}  // namespace

TENFOLD_PLUGINS("libcxx", std::make_shared<Clamp>(), std::make_shared<Twice>())
