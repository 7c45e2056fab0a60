// Col2Im: sums the columns of sliding blocks back into images of any number of spatial dims.
#include <type_traits>

#include "base/checked.h"
#include "ops/dim_rules.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

struct Window { Ints dilations, pads, strides; };

Window window_of(const Attributes& attributes, std::size_t rank) {
  return {attributes.ints("dilations", Ints(rank, 1)), attributes.ints("pads", Ints(2 * rank, 0)),
          attributes.ints("strides", Ints(rank, 1))};
}

void infer(InferCall& call) {
  call.check_shape(call.rank(0) == 3, "the input has rank ", call.rank(0), ", 3 expected");
  const int rank = ops::need_length(call, 1, "image_shape");
  call.check_shape(rank > 0 && ops::need_length(call, 2, "block_shape") == rank,
                   "image_shape and block_shape differ in length, or are empty");
  const Window window = window_of(call.attributes(), static_cast<std::size_t>(rank));
  call.check_shape(static_cast<int>(window.dilations.size()) == rank && static_cast<int>(window.strides.size()) == rank &&
                static_cast<int>(window.pads.size()) == 2 * rank, "dilations, pads or strides do not fit ", rank, " dims");
  for (std::int64_t stride : window.strides) call.validate(stride > 0, "stride ", stride, " is not positive");
  const Dims *image = call.contents(1), *block = call.contents(2);
  Dims dims{call.dims(0)[0]};
  dims.push_back(block ? floor_div(call.dims(0)[1], product(*block)) : call.new_symbol("channels", 0, call.dims(0)[1]));
  for (int d = 0; d < rank; ++d)
    dims.push_back(image ? (*image)[static_cast<std::size_t>(d)] : call.new_symbol(cat("extent", d), 0, kUnbounded));
  call.out(0, call.dtype(0), std::move(dims));
}

// How many places a block has along each dim.
Shape places_of(const Window& window, const Shape& image, const Shape& block) {
  Shape places;
  for (std::size_t d = 0; d < image.size(); ++d) {
    const std::int64_t padded = checked_add(image[d], checked_add(window.pads[d], window.pads[d + image.size()]));
    const std::int64_t room = checked_sub(padded, checked_add(checked_mul(window.dilations[d], checked_sub(block[d], 1)), 1));
    places.push_back(room < 0 ? 0 : room / window.strides[d] + 1);
  }
  return places;
}

struct Blocks { const Shape &image, &block, &places; };

template <class T, class Sum>
void add_blocks(const Call& call, const Window& window, const Blocks& b) {
  const ops::RealIn<T> columns(call.in[0]);
  const TensorRef& to = call.out[0];
  const Shape strides = ops::row_major_strides(b.image);
  const std::int64_t block_size = element_count(b.block), count = element_count(b.places), pixels = element_count(b.image);
  std::vector<Sum> sums(static_cast<std::size_t>(to.size()), 0);
  ops::for_each_index(b.block, [&](const Shape& k, std::int64_t in_block) {
    ops::for_each_index(b.places, [&](const Shape& place, std::int64_t column) {
      std::int64_t pixel = 0;
      for (std::size_t d = 0; d < b.image.size(); ++d) {
        const std::int64_t at = place[d] * window.strides[d] + k[d] * window.dilations[d] - window.pads[d];
        if (at < 0 || at >= b.image[d]) return;
        pixel += at * strides[d];
      }
      for (std::int64_t plane = 0; plane * pixels < to.size(); ++plane)
        sums[static_cast<std::size_t>(plane * pixels + pixel)] +=
            static_cast<Sum>(columns[(plane * block_size + in_block) * count + column]);
    });
  });
  for (std::int64_t i = 0; i < to.size(); ++i) {
    const Sum sum = sums[static_cast<std::size_t>(i)];
    if constexpr (std::is_integral_v<Sum>) store_int(to.dtype, to.data, i, static_cast<std::int64_t>(sum));
    else store_double(to.dtype, to.data, i, sum);
  }
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const Shape image = ops::read_ints(call.in[1]), block = ops::read_ints(call.in[2]);
  const Window window = window_of(call.attributes(), image.size());
  const Shape places = places_of(window, image, block);
  const std::int64_t block_size = element_count(block), count = element_count(places);
  call.check_shape(block_size > 0 && from.shape[1] % block_size == 0 && count == from.shape[2], "columns of shape ", text(from.shape),
            " do not fit ", count, " blocks of ", text(block));
  const std::int64_t channels = from.shape[1] / block_size;
  Shape shape{from.shape[0], channels};
  shape.insert(shape.end(), image.begin(), image.end());
  ops::set_output_shape(call, 0, shape);
  if (call.out[0].size() == 0) return;
  ops::with_number(from.dtype, [&]<class T>(T) {
    using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;   // integers wrap
    add_blocks<T, Sum>(call, window, {image, block, places});
  });
}

}  // namespace

OpDef op_col2im() {
  return {.name = "Col2Im",
          .min_inputs = 3,
          .max_inputs = 3,
          .types = "T, int, int -> T; T: dense",
          .optional_attributes = "dilations: ints, pads: ints, strides: ints",
          .infer = infer,
          .reference = reference,
          .onnx_since = 18,
          .cases = {"f32[1,5,5] i64[2]{5,5} i64[2]{1,5}", "f32[2,8,4] i64[2]{3,3} i64[2]{2,2}",
                    "f32[1,4,9] i64[2]{5,5} i64[2]{2,2} strides=[2,2] pads=[0,0,1,1]"}};
}

}  // namespace tenfold::ir
