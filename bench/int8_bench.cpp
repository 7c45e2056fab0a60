// Times the int8 tactics on the layers of common networks: processor time of one thread, best of many runs, so that other load on
// the machine hardly matters.
//
//   int8_bench [word [inputs]]      only networks whose name contains the word, of these only layers of so many input channels
//
// `peak` is the rate of the machine's best int8 register tile alone, measured in the same minute; without VNNI for weights that fit
// vpmaddubsw. The layers' weights are uniform, harder than those of any network.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/code.h"
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/tactics/int8/int8_common.h"
#include "ops/cases.h"

namespace tenfold::backends {
Tactic cpu_matmul_int8();
Tactic cpu_conv_int8_igemm();
Tactic cpu_conv_int8_depthwise();

namespace {

struct Layer {
  const char* network;
  int times;
  bool conv;
  std::int64_t rows_or_size, in, out, kernel, stride, groups;
};

// Network, how often, conv?, rows (image size of a conv), inputs, outputs, kernel, stride, groups.
constexpr Layer kLayers[] = {
    {"resnet50", 1, true, 224, 3, 64, 7, 2, 1},         {"resnet50", 1, true, 56, 64, 64, 1, 1, 1},
    {"resnet50", 3, true, 56, 64, 64, 3, 1, 1},         {"resnet50", 4, true, 56, 64, 256, 1, 1, 1},
    {"resnet50", 2, true, 56, 256, 64, 1, 1, 1},        {"resnet50", 1, true, 56, 256, 128, 1, 1, 1},
    {"resnet50", 1, true, 56, 128, 128, 3, 2, 1},       {"resnet50", 4, true, 28, 128, 512, 1, 1, 1},
    {"resnet50", 1, true, 56, 256, 512, 1, 2, 1},       {"resnet50", 3, true, 28, 512, 128, 1, 1, 1},
    {"resnet50", 3, true, 28, 128, 128, 3, 1, 1},       {"resnet50", 1, true, 28, 512, 256, 1, 1, 1},
    {"resnet50", 1, true, 28, 256, 256, 3, 2, 1},       {"resnet50", 6, true, 14, 256, 1024, 1, 1, 1},
    {"resnet50", 1, true, 28, 512, 1024, 1, 2, 1},      {"resnet50", 5, true, 14, 1024, 256, 1, 1, 1},
    {"resnet50", 5, true, 14, 256, 256, 3, 1, 1},       {"resnet50", 1, true, 14, 1024, 512, 1, 1, 1},
    {"resnet50", 1, true, 14, 512, 512, 3, 2, 1},       {"resnet50", 3, true, 7, 512, 2048, 1, 1, 1},
    {"resnet50", 1, true, 14, 1024, 2048, 1, 2, 1},     {"resnet50", 2, true, 7, 2048, 512, 1, 1, 1},
    {"resnet50", 2, true, 7, 512, 512, 3, 1, 1},        {"resnet50", 1, false, 1, 2048, 1000, 1, 1, 1},
    {"mobilenet_v2", 1, true, 224, 3, 32, 3, 2, 1},     {"mobilenet_v2", 1, true, 112, 32, 32, 3, 1, 32},
    {"mobilenet_v2", 1, true, 112, 32, 16, 1, 1, 1},    {"mobilenet_v2", 1, true, 112, 16, 96, 1, 1, 1},
    {"mobilenet_v2", 1, true, 112, 96, 96, 3, 2, 96},   {"mobilenet_v2", 1, true, 56, 96, 24, 1, 1, 1},
    {"mobilenet_v2", 2, true, 56, 24, 144, 1, 1, 1},    {"mobilenet_v2", 1, true, 56, 144, 144, 3, 1, 144},
    {"mobilenet_v2", 1, true, 56, 144, 24, 1, 1, 1},    {"mobilenet_v2", 1, true, 56, 144, 144, 3, 2, 144},
    {"mobilenet_v2", 1, true, 28, 144, 32, 1, 1, 1},    {"mobilenet_v2", 3, true, 28, 32, 192, 1, 1, 1},
    {"mobilenet_v2", 2, true, 28, 192, 192, 3, 1, 192}, {"mobilenet_v2", 2, true, 28, 192, 32, 1, 1, 1},
    {"mobilenet_v2", 1, true, 28, 192, 192, 3, 2, 192}, {"mobilenet_v2", 1, true, 14, 192, 64, 1, 1, 1},
    {"mobilenet_v2", 4, true, 14, 64, 384, 1, 1, 1},    {"mobilenet_v2", 4, true, 14, 384, 384, 3, 1, 384},
    {"mobilenet_v2", 3, true, 14, 384, 64, 1, 1, 1},    {"mobilenet_v2", 1, true, 14, 384, 96, 1, 1, 1},
    {"mobilenet_v2", 3, true, 14, 96, 576, 1, 1, 1},    {"mobilenet_v2", 2, true, 14, 576, 576, 3, 1, 576},
    {"mobilenet_v2", 2, true, 14, 576, 96, 1, 1, 1},    {"mobilenet_v2", 1, true, 14, 576, 576, 3, 2, 576},
    {"mobilenet_v2", 1, true, 7, 576, 160, 1, 1, 1},    {"mobilenet_v2", 3, true, 7, 160, 960, 1, 1, 1},
    {"mobilenet_v2", 3, true, 7, 960, 960, 3, 1, 960},  {"mobilenet_v2", 2, true, 7, 960, 160, 1, 1, 1},
    {"mobilenet_v2", 1, true, 7, 960, 320, 1, 1, 1},    {"mobilenet_v2", 1, true, 7, 320, 1280, 1, 1, 1},
    {"mobilenet_v2", 1, false, 1, 1280, 1000, 1, 1, 1}, {"minilm_s128", 24, false, 128, 384, 384, 1, 1, 1},
    {"minilm_s128", 6, false, 128, 384, 1536, 1, 1, 1}, {"minilm_s128", 6, false, 128, 1536, 384, 1, 1, 1},
    {"bert_s128", 48, false, 128, 768, 768, 1, 1, 1},   {"bert_s128", 12, false, 128, 768, 3072, 1, 1, 1},
    {"bert_s128", 12, false, 128, 3072, 768, 1, 1, 1},
};

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F>
double best_seconds(F&& f, double budget) {
  double best = 1e9, total = 0;
  for (int i = 0; i < 5 || total < budget; ++i) {
    const double start = thread_seconds();
    f();
    const double seconds = thread_seconds() - start;
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

struct Memory {
  explicit Memory(std::int64_t bytes) : data(std::aligned_alloc(64, static_cast<std::size_t>((bytes + 127) / 64 * 64)), std::free) {}
  std::shared_ptr<void> data;
};

// acc * scale + bias, quantized to u8: the epilogue of nearly every layer.
ir::Body epilogue_of_layer() {
  ir::BodyBuilder b({DType::i32, DType::f32, DType::f32});
  std::uint16_t y = b.binary(ir::Prim::add, b.binary(ir::Prim::mul, b.cast(0, DType::f32), 1), 2);
  y = b.unary(ir::Prim::round_even, b.binary(ir::Prim::div, y, b.constant(DType::f32, 0.05)));
  return b.finish({b.emit({.prim = ir::Prim::saturate, .dtype = DType::u8, .a = y})});
}

Bound bound(void* data, const Shape& shape, std::vector<std::int64_t>& strides, bool channels_last) {
  strides.assign(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  if (channels_last) strides = {shape[1] * shape[2] * shape[3], 1, shape[3] * shape[1], shape[1]};
  return {data, shape.data(), strides.data(), static_cast<int>(shape.size())};
}

// Best time of the fastest config.
double time_layer(const Layer& l, double& operations, std::string& config_text) {
  const bool depthwise = l.groups > 1;
  const Tactic tactic = !l.conv ? cpu_matmul_int8() : depthwise ? cpu_conv_int8_depthwise() : cpu_conv_int8_igemm();
  const std::int64_t size = (l.rows_or_size + l.stride - 1) / l.stride, pad = l.kernel / 2;
  const Shape x = l.conv ? Shape{1, l.in, l.rows_or_size, l.rows_or_size} : Shape{l.rows_or_size, l.in};
  const Shape w = l.conv ? Shape{l.out, l.in / l.groups, l.kernel, l.kernel} : Shape{l.in, l.out};
  const Shape y = l.conv ? Shape{1, l.out, size, size} : Shape{l.rows_or_size, l.out};
  const Shape per_channel = l.conv ? Shape{l.out, 1, 1} : Shape{l.out};
  ir::Attributes attributes;
  if (l.conv)
    attributes = {{"group", l.groups},
                  {"strides", ir::Ints{l.stride, l.stride}},
                  {"pads", ir::Ints{pad, pad, pad, pad}},
                  {"dilations", ir::Ints{1, 1}},
                  {"kernel_shape", ir::Ints{l.kernel, l.kernel}}};
  const ir::Body body = epilogue_of_layer();
  const Layout layout = l.conv ? kChannelsLast : kPlain;
  Problem p;
  p.op = &ir::Registry::builtin().get(tactic.ops[0].op);
  p.attributes = &attributes;
  p.body = &body;
  p.anchor_inputs = 3;
  p.device = &cpu::this_cpu();
  p.in = {{DType::u8, ir::to_dims(x), layout},
          {DType::i8, ir::to_dims(w), {}, false, true},
          {DType::u8, {}, {}, false, true},
          {DType::f32, ir::to_dims(per_channel), {}, false, true},
          {DType::f32, ir::to_dims(per_channel), {}, false, true}};
  p.out = {{DType::u8, ir::to_dims(y), layout}};
  const Verdict verdict = tactic.supports(p);
  if (!verdict) {
    std::printf("refused: %s\n", verdict.reason.c_str());
    std::exit(1);
  }
  Tensor a = ops::random_tensor(DType::u8, x, 1, 0, 255), b = ops::random_tensor(DType::i8, w, 2, -127, 127),
         zero = ops::random_tensor(DType::u8, {}, 3, 0, 0);
  Tensor scale = ops::random_tensor(DType::f32, per_channel, 4, 1e-4, 2e-4), bias = ops::random_tensor(DType::f32, per_channel, 5),
         out(DType::u8, y);
  operations = 2.0 * static_cast<double>(out.size() * l.in / l.groups * (l.conv ? l.kernel * l.kernel : 1));
  double best = 1e9;
  for (const Config& config : tactic.configs(p)) {
    Memory packed(tactic.packed_bytes(p, config, 1)), scratch(tactic.worker_scratch(p, config).constant()),
        workspace(tactic.workspace(p, config).constant());
    const std::vector<const Tensor*> constants{nullptr, &b, &zero, &scale, &bias};
    tactic.pack(p, config, 1, constants, packed.data.get());
    std::vector<std::int64_t> s[6];
    const Bound in[] = {bound(a.mutable_raw(), a.shape(), s[0], l.conv), bound(packed.data.get(), b.shape(), s[1], false),
                        bound(zero.mutable_raw(), zero.shape(), s[2], false), bound(scale.mutable_raw(), scale.shape(), s[3], false),
                        bound(bias.mutable_raw(), bias.shape(), s[4], false)};
    const Bound outs[] = {bound(out.mutable_raw(), out.shape(), s[5], l.conv)};
    Opening opening;
    const auto kernel = tactic.open(p, config, opening);
    Serial serial;
    const double seconds = best_seconds(
        [&] {
          tactic.run(kernel.get(), {in, outs, workspace.data.get(), &serial, scratch.data.get(), 0});
        },
        0.05);
    if (seconds < best) best = seconds, config_text = cat("{", config[0], ",", config.size() > 1 ? config[1] : 0, ",", config.back(), "}");
  }
  return best;
}

double peak() {
  const Config config = cpu::int8_configs(cpu::this_cpu(), 64, 64).front();
  const cpu::Int8Kernels& k = cpu::int8_kernels(config[0]);
  Memory a(1 << 16), b(1 << 17), c(1 << 16), init(1 << 10);
  for (const Memory* m : {&a, &b, &c, &init}) std::memset(m->data.get(), 0, m == &init ? 1 << 10 : 1 << 16);
  const std::int64_t groups = 256 / k.k_group;
  std::uint16_t order[cpu::kInt8Classes + 64] = {};   // all plain
  order[cpu::kInt8Plain] = 64;
  for (int g = 0; g < 64; ++g) order[cpu::kInt8Classes + g] = static_cast<std::uint16_t>(4 * g);
  if (k.enter) k.enter(false);
  const double seconds = best_seconds(
      [&] {
        for (int i = 0; i < 100; ++i)
          k.panel(k.mr, k.nr, static_cast<const char*>(a.data.get()), 256 + 64, static_cast<const char*>(b.data.get()), groups, order,
                  static_cast<std::int32_t*>(init.data.get()), static_cast<std::int32_t*>(c.data.get()), 64, false,
                  {static_cast<const char*>(b.data.get()), 0});
      },
      0.2);
  if (k.leave) k.leave();
  return 2.0 * k.mr * k.nr * 256 * 100 / seconds;
}

}  // namespace
}  // namespace tenfold::backends

int main(int argc, char** argv) {
  using namespace tenfold::backends;
  const double top = peak();
  std::printf("register tile alone: %.1f GOP/s\n", top / 1e9);
  std::string network;
  double total = 0, work = 0;
  const auto finish = [&] {
    if (!network.empty())
      std::printf("%-13s all layers %8.3f ms  %6.1f GOP/s  %4.1f %% of peak\n\n", network.c_str(), total * 1e3, work / total / 1e9,
                  100 * work / total / top);
    total = work = 0;
  };
  for (const Layer& l : kLayers) {
    if ((argc > 1 && !std::strstr(l.network, argv[1])) || (argc > 2 && l.in != std::atoll(argv[2]))) continue;
    if (network != l.network) finish();
    network = l.network;
    double operations = 0;
    std::string config;
    const double seconds = time_layer(l, operations, config);
    std::printf("%-13s %2dx %s %4ld: %4ld -> %4ld k%ld s%ld g%-4ld %8.3f ms %6.1f GOP/s %5.1f %% %s\n", l.network, l.times,
                l.conv ? "conv" : "rows", l.rows_or_size, l.in, l.out, l.kernel, l.stride, l.groups, seconds * 1e3,
                operations / seconds / 1e9, 100 * operations / seconds / top, config.c_str());
    total += seconds * l.times;
    work += operations * l.times;
  }
  finish();
}
