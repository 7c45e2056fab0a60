// Primitives through oneDNN's C++ interface, version 2.
#include "sweep_onednn.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace sweep {
namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}
dnnl::stream& stream() {
  static dnnl::stream one(engine());
  return one;
}

memory::desc any(const memory::dims& dims) { return {dims, memory::data_type::f32, memory::format_tag::any}; }
// Dense; `order` lists axes, outermost first (empty: as they come).
memory::desc dense(const memory::dims& dims, std::vector<std::size_t> order = {}) {
  if (order.empty())
    for (std::size_t i = 0; i < dims.size(); ++i) order.push_back(i);
  memory::dims strides(dims.size());
  memory::dim step = 1;
  for (std::size_t i = order.size(); i-- > 0;) strides[order[i]] = step, step *= dims[order[i]];
  return {dims, memory::data_type::f32, strides};
}

dnnl::primitive_attr attributes(After after) {
  dnnl::post_ops ops;
  if (after == After::relu) ops.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  if (after == After::gelu) ops.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  dnnl::primitive_attr attr;
  attr.set_post_ops(ops);
  return attr;
}

// What the primitive wants against how the problem's tensors lie.
struct Operand {
  memory::desc preferred, given;
  const tenfold::Tensor* data;
};

class Made final : public Primitive {
 public:
  template <class Desc>
  Made(const Desc& desc, const Operand& x, const Operand& w, const Operand& bias, const memory::desc& y, const memory::desc& plain_y)
      : implementation_(desc.impl_info_str()), primitive_(desc), y_(y, engine()), plain_y_(plain_y) {
    add(DNNL_ARG_SRC, x), add(DNNL_ARG_WEIGHTS, w);
    if (bias.data->defined()) add(DNNL_ARG_BIAS, bias);
    arguments_.insert({DNNL_ARG_DST, y_});
  }
  void run() override {
    primitive_.execute(stream(), arguments_);
    stream().wait();
  }
  std::vector<float> result() override {
    std::vector<float> values(plain_y_.get_size() / sizeof(float));
    memory plain(plain_y_, engine(), values.data());
    copy(y_, plain);
    return values;
  }
  std::string implementation() const override { return implementation_; }

 private:
  static void copy(memory& from, memory& to) {
    dnnl::reorder(from, to).execute(stream(), from, to);
    stream().wait();
  }
  void add(int argument, const Operand& o) {
    memory given(o.given, engine(), const_cast<void*>(o.data->raw())), preferred(o.preferred, engine());
    copy(given, preferred);
    arguments_.insert({argument, preferred});
  }
  std::string implementation_;
  dnnl::primitive primitive_;
  memory y_;
  memory::desc plain_y_;
  std::unordered_map<int, memory> arguments_;
};

using Made_ = std::vector<std::unique_ptr<Primitive>>;

// A problem that a kind of primitive does not take is left to the other kinds.
template <class F>
void attempt(F&& make) {
  try {
    make();
  } catch (const dnnl::error& e) {
    if (e.status != dnnl_unimplemented) throw;
  }
}

void add_products(Made_& made, const Problem& p, const tenfold::Tensor& x, const tenfold::Tensor& w, const tenfold::Tensor& bias) {
  const memory::dim k = p.x.back(), n = p.y.back(), m = x.size() / k;
  const memory::desc mx = dense({m, k}), my = dense({m, n});
  const dnnl::primitive_attr attr = attributes(p.after);
  const bool has_bias = bias.defined();
  attempt([&] {
    const memory::desc mb = dense({1, n}), given = p.transposed ? dense({k, n}, {1, 0}) : dense({k, n});
    const dnnl::matmul::desc d = has_bias ? dnnl::matmul::desc(mx, any({k, n}), mb, my) : dnnl::matmul::desc(mx, any({k, n}), my);
    const dnnl::matmul::primitive_desc pd(d, attr, engine());
    made.push_back(std::make_unique<Made>(dnnl::matmul::primitive_desc(pd), Operand{mx, mx, &x}, Operand{pd.weights_desc(), given, &w},
                                          Operand{mb, mb, &bias}, my, my));
  });
  attempt([&] {
    using Product = dnnl::inner_product_forward;
    const memory::desc mb = dense({n}), given = p.transposed ? dense({n, k}) : dense({n, k}, {1, 0});
    const auto inference = dnnl::prop_kind::forward_inference;
    const Product::desc d = has_bias ? Product::desc(inference, mx, any({n, k}), mb, my) : Product::desc(inference, mx, any({n, k}), my);
    const Product::primitive_desc pd(d, attr, engine());
    made.push_back(std::make_unique<Made>(pd, Operand{mx, mx, &x}, Operand{pd.weights_desc(), given, &w}, Operand{mb, mb, &bias}, my, my));
  });
}

// [n, spatial..., c] as oneDNN names dims: n, c, spatial...
memory::dims channels_second(const Shape& shape) {
  memory::dims dims(shape.begin(), shape.end() - 1);
  dims.insert(dims.begin() + 1, shape.back());
  return dims;
}
memory::desc channels_last(const memory::dims& dims) {
  std::vector<std::size_t> order{0};
  for (std::size_t i = 2; i < dims.size(); ++i) order.push_back(i);
  order.push_back(1);
  return dense(dims, order);
}

void add_convolutions(Made_& made, const Problem& p, const tenfold::Tensor& x, const tenfold::Tensor& w, const tenfold::Tensor& bias) {
  using Convolution = dnnl::convolution_forward;
  const memory::dims dx = channels_second(p.x), dy = channels_second(p.y);
  memory::dims dw = p.w, dilations = p.dilations;
  if (p.groups > 1) dw[0] /= p.groups, dw.insert(dw.begin(), p.groups);
  for (memory::dim& d : dilations) --d;
  memory::dims after;  // what the last window leaves of the padding, and of the image
  for (std::size_t i = 0; i < p.strides.size(); ++i)
    after.push_back((dy[i + 2] - 1) * p.strides[i] + (p.w[i + 2] - 1) * p.dilations[i] + 1 - dx[i + 2] - p.pads[i]);
  const memory::desc mb = dense({dy[1]});
  for (const dnnl::algorithm algorithm : {dnnl::algorithm::convolution_direct, dnnl::algorithm::convolution_auto}) {
    attempt([&] {
      const auto inference = dnnl::prop_kind::forward_inference;
      const Convolution::desc d =
          bias.defined() ? Convolution::desc(inference, algorithm, any(dx), any(dw), mb, any(dy), p.strides, dilations, p.pads, after)
                         : Convolution::desc(inference, algorithm, any(dx), any(dw), any(dy), p.strides, dilations, p.pads, after);
      const Convolution::primitive_desc pd(d, attributes(p.after), engine());
      if (!made.empty() && made[0]->implementation() == pd.impl_info_str()) return;  // auto chose the same
      made.push_back(std::make_unique<Made>(pd, Operand{pd.src_desc(), channels_last(dx), &x}, Operand{pd.weights_desc(), dense(dw), &w},
                                            Operand{mb, mb, &bias}, pd.dst_desc(), channels_last(dy)));
    });
  }
}

}  // namespace

std::vector<std::unique_ptr<Primitive>> onednn_primitives(const Problem& p, const tenfold::Tensor& x, const tenfold::Tensor& w,
                                                          const tenfold::Tensor& bias) {
  Made_ made;
  (p.kind == Kind::product ? add_products : add_convolutions)(made, p, x, w, bias);
  return made;
}

std::string onednn_version() {
  const dnnl::version_t* v = dnnl::version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

}  // namespace sweep
