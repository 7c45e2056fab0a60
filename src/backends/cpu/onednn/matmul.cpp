// Making and running the primitives of a Product through the C interface of oneDNN 2.
#include "backends/cpu/onednn/matmul.h"

#if TENFOLD_WITH_ONEDNN
#include <algorithm>

#include "backends/cpu/onednn/functions.h"
#include "base/checked.h"

namespace tenfold::backends::cpu::onednn {
namespace {

using Sizes = std::vector<dnnl_dim_t>;

template <class T, auto Destroy>
struct Deleter {
  void operator()(T* handle) const { (functions().*Destroy)(handle); }
};
using PrimitiveDesc = std::unique_ptr<dnnl_primitive_desc, Deleter<dnnl_primitive_desc, &Functions::dnnl_primitive_desc_destroy>>;
using Primitive = std::unique_ptr<dnnl_primitive, Deleter<dnnl_primitive, &Functions::dnnl_primitive_destroy>>;
using Memory = std::unique_ptr<dnnl_memory, Deleter<dnnl_memory, &Functions::dnnl_memory_destroy>>;
using StreamHandle = std::unique_ptr<dnnl_stream, Deleter<dnnl_stream, &Functions::dnnl_stream_destroy>>;
using Attr = std::unique_ptr<dnnl_primitive_attr, Deleter<dnnl_primitive_attr, &Functions::dnnl_primitive_attr_destroy>>;
using PostOps = std::unique_ptr<dnnl_post_ops, Deleter<dnnl_post_ops, &Functions::dnnl_post_ops_destroy>>;

void must(dnnl_status_t status, const char* what) {
  check(status == dnnl_success, "oneDNN: ", what, " failed with status ", static_cast<int>(status));
}

// Dense, in the order of `sizes` or with axis 1 innermost.
dnnl_memory_desc_t dense(const Sizes& sizes, bool channels_last = false) {
  Sizes strides(sizes.size());
  dnnl_dim_t step = 1;
  if (channels_last) strides[1] = step, step *= sizes[1];
  for (std::size_t i = sizes.size(); i-- > 0;)
    if (!channels_last || i != 1) strides[i] = step, step *= sizes[i];
  dnnl_memory_desc_t desc;
  must(functions().dnnl_memory_desc_init_by_strides(&desc, static_cast<int>(sizes.size()), sizes.data(), dnnl_f32, strides.data()),
       "a memory description");
  return desc;
}
// In whatever packing an implementation likes.
dnnl_memory_desc_t any(const Sizes& sizes) {
  dnnl_memory_desc_t desc = dense(sizes);
  desc.format_kind = dnnl_format_kind_any;
  return desc;
}

Memory memory(const dnnl_memory_desc_t& desc, const void* data) {
  dnnl_memory_t handle = nullptr;
  functions().dnnl_memory_create(&handle, &desc, functions().engine, const_cast<void*>(data));
  return Memory(handle);
}

Attr attributes(std::optional<Clamp> clamp) {
  const Functions& f = functions();
  dnnl_primitive_attr_t raw = nullptr;
  must(f.dnnl_primitive_attr_create(&raw), "attributes");
  Attr attr(raw);
  must(f.dnnl_primitive_attr_set_scratchpad_mode(raw, dnnl_scratchpad_mode_user), "scratchpad mode");
  if (!clamp) return attr;
  dnnl_post_ops_t ops = nullptr;
  must(f.dnnl_post_ops_create(&ops), "post operations");
  const PostOps owner(ops);
  must(f.dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_clip, clamp->low, clamp->high), "clip");
  must(f.dnnl_primitive_attr_set_post_ops(raw, ops), "post operations");
  return attr;
}

struct Compiled {
  dnnl_memory_desc_t x{}, w{}, y{}, scratch{};
  Primitive primitive;
};

class Primitives final : public Product {
 public:
  Primitives() {
    dnnl_stream_t stream = nullptr;
    must(functions().dnnl_stream_create(&stream, functions().engine, dnnl_stream_default_flags), "a stream");
    stream_.reset(stream);
  }
  // `operation` is a oneDNN operation description. False: no implementation.
  template <class Operation>
  bool add(const Operation& operation, const Attr& attr, const Part& part, const dnnl_memory_desc_t& x, const dnnl_memory_desc_t& y) {
    const Functions& f = functions();
    dnnl_primitive_desc_t raw = nullptr;
    if (f.dnnl_primitive_desc_create(&raw, &operation, attr.get(), f.engine, nullptr) != dnnl_success) return false;
    const PrimitiveDesc desc(raw);
    Compiled c{x, *f.dnnl_primitive_desc_query_md(raw, dnnl_query_weights_md, 0), y,
               *f.dnnl_primitive_desc_query_md(raw, dnnl_query_scratchpad_md, 0), nullptr};
    dnnl_primitive_t primitive = nullptr;
    if (f.dnnl_primitive_create(&primitive, raw) != dnnl_success) return false;
    c.primitive.reset(primitive);
    scratch_ = std::max(scratch_, round_up(static_cast<std::int64_t>(f.dnnl_memory_desc_get_size(&c.scratch)), 64));
    compiled_.push_back(std::move(c));
    parts_.push_back(part);
    return true;
  }
  // The packing that later parts have to share: that of the first part, or any.
  dnnl_memory_desc_t weights(const Sizes& sizes) const { return compiled_.empty() ? any(sizes) : compiled_[0].w; }
  void set_plain(const Sizes& sizes) { plain_ = dense(sizes); }
  void set_bias(const dnnl_memory_desc_t& bias) { bias_ = bias; }

  std::int64_t weight_bytes() const override { return static_cast<std::int64_t>(functions().dnnl_memory_desc_get_size(&compiled_[0].w)); }
  void pack(const float* weight, void* packed) const override {
    std::fill_n(static_cast<char*>(packed), weight_bytes(), char{0});
    reorder(plain_, weight, compiled_[0].w, packed);
  }
  void unpack(const void* packed, float* weight) const override { reorder(compiled_[0].w, packed, plain_, weight); }
  std::int64_t scratch_bytes() const override { return scratch_; }

  Status::Code run(std::size_t i, const float* x, const void* w, const float* bias, float* y, void* scratch) const noexcept override {
    const OneThread one;
    const Compiled& c = compiled_[i];
    const Memory mx = memory(c.x, x + parts_[i].x_offset), mw = memory(c.w, w), my = memory(c.y, y + parts_[i].y_offset),
                 ms = memory(c.scratch, scratch), mb = bias ? memory(bias_, bias) : nullptr;
    if (!mx || !mw || !my || !ms || (bias && !mb)) return Status::out_of_memory;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, mx.get()},
                              {DNNL_ARG_WEIGHTS, mw.get()},
                              {DNNL_ARG_DST, my.get()},
                              {DNNL_ARG_SCRATCHPAD, ms.get()},
                              {DNNL_ARG_BIAS, mb.get()}};
    const dnnl_status_t status = functions().dnnl_primitive_execute(c.primitive.get(), stream_.get(), bias ? 5 : 4, args);
    return status == dnnl_success ? Status::ok : status == dnnl_out_of_memory ? Status::out_of_memory : Status::failed;
  }

 private:
  void reorder(const dnnl_memory_desc_t& from, const void* source, const dnnl_memory_desc_t& to, void* target) const {
    const OneThread one;
    const Functions& f = functions();
    dnnl_primitive_desc_t raw = nullptr;
    must(f.dnnl_reorder_primitive_desc_create(&raw, &from, f.engine, &to, f.engine, nullptr), "a reorder");
    const PrimitiveDesc desc(raw);
    dnnl_primitive_t primitive = nullptr;
    must(f.dnnl_primitive_create(&primitive, raw), "a reorder");
    const Primitive owner(primitive);
    const Memory a = memory(from, source), b = memory(to, target);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, a.get()}, {DNNL_ARG_TO, b.get()}};
    must(f.dnnl_primitive_execute(primitive, stream_.get(), 2, args), "a reorder");
  }

  StreamHandle stream_;
  std::vector<Compiled> compiled_;
  dnnl_memory_desc_t plain_{}, bias_{};
  std::int64_t scratch_ = 0;
};

// One spatial axis of a part: where its window of x begins and ends, and the padding that is left at both sides.
struct Span {
  std::int64_t first, last, before, after;
};
Span span(const ConvGemm& c, std::size_t axis, std::int64_t out_first, std::int64_t out_last) {
  const ConvShape& s = c.shape;
  const std::int64_t low = out_first * s.stride[axis] - s.begin[axis];
  const std::int64_t high = (out_last - 1) * s.stride[axis] - s.begin[axis] + (s.kernel[axis] - 1) * s.dilation[axis] + 1;
  const std::int64_t first = std::clamp<std::int64_t>(low, 0, c.in[axis]), last = std::clamp<std::int64_t>(high, first, c.in[axis]);
  return {first, last, first - low, high - last};
}

bool add_part(Primitives& all, const ConvGemm& c, std::int64_t first, std::int64_t last, bool bias, const Attr& attr) {
  const ConvShape& s = c.shape;
  const std::size_t lead = static_cast<std::size_t>(3 - c.rank);
  Sizes x{1, s.channels}, y{1, s.filters}, w{s.width, s.depth}, stride, dilation, before, after;
  if (s.groups > 1) w.insert(w.begin(), s.groups);
  std::int64_t x_row = s.channels, y_row = s.filters, skipped = 0;
  for (std::size_t a = lead; a < 3; ++a) {
    const Span part = a == lead ? span(c, a, first, last) : span(c, a, 0, c.out[a]);
    if (part.last <= part.first || part.before < 0) return false;
    if (a == lead) skipped = part.first;
    else x_row *= c.in[a], y_row *= c.out[a];
    x.push_back(a == lead ? part.last - part.first : c.in[a]);
    y.push_back(a == lead ? last - first : c.out[a]);
    w.push_back(s.kernel[a]);
    stride.push_back(s.stride[a]), dilation.push_back(s.dilation[a] - 1);
    before.push_back(part.before);
    after.push_back(part.after);   // an inner axis may end with elements that no window reaches
  }
  all.set_plain(w);
  const dnnl_memory_desc_t x_desc = dense(x, true), y_desc = dense(y, true), w_desc = all.weights(w), bias_desc = dense({s.filters});
  all.set_bias(bias_desc);
  dnnl_convolution_desc_t operation;
  if (functions().dnnl_dilated_convolution_forward_desc_init(&operation, dnnl_forward_inference, dnnl_convolution_direct, &x_desc, &w_desc,
                                                             bias ? &bias_desc : nullptr, &y_desc, stride.data(), dilation.data(),
                                                             before.data(), after.data()) != dnnl_success)
    return false;
  return all.add(operation, attr, {first, last, skipped * x_row, first * y_row}, x_desc, y_desc);
}

}  // namespace

std::shared_ptr<const Product> Product::make(const MatrixProduct& p, std::int64_t parts, bool bias, std::optional<Clamp> clamp) {
  const OneThread one;
  auto all = std::make_shared<Primitives>();
  all->set_plain({p.k, p.n});
  const dnnl_memory_desc_t bias_desc = dense({1, p.n});
  all->set_bias(bias_desc);
  const Attr attr = attributes(clamp);
  for (std::int64_t i = 0; i < parts; ++i) {
    const Part part{i * p.m / parts, (i + 1) * p.m / parts, i * p.m / parts * p.k, i * p.m / parts * p.n};
    const dnnl_memory_desc_t x = dense({part.last - part.first, p.k}), y = dense({part.last - part.first, p.n}),
                             w = all->weights({p.k, p.n});
    dnnl_matmul_desc_t operation;
    if (functions().dnnl_matmul_desc_init(&operation, &x, &w, bias ? &bias_desc : nullptr, &y) != dnnl_success) return nullptr;
    if (!all->add(operation, attr, part, x, y)) return nullptr;
  }
  return all;
}

std::shared_ptr<const Product> Product::make(const ConvGemm& c, std::int64_t parts, bool bias, std::optional<Clamp> clamp) {
  const OneThread one;
  auto all = std::make_shared<Primitives>();
  const Attr attr = attributes(clamp);
  const std::int64_t rows = c.out[static_cast<std::size_t>(3 - c.rank)];
  for (std::int64_t i = 0; i < parts; ++i)
    if (!add_part(*all, c, i * rows / parts, (i + 1) * rows / parts, bias, attr)) return nullptr;
  return all;
}

}  // namespace tenfold::backends::cpu::onednn
#else
namespace tenfold::backends::cpu::onednn {
std::shared_ptr<const Product> Product::make(const MatrixProduct&, std::int64_t, bool, std::optional<Clamp>) { return nullptr; }
std::shared_ptr<const Product> Product::make(const ConvGemm&, std::int64_t, bool, std::optional<Clamp>) { return nullptr; }
}  // namespace tenfold::backends::cpu::onednn
#endif
