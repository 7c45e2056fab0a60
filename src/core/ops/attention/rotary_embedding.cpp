// RotaryEmbedding: turns pairs of elements of each head by angles that depend on the position.
//
// Operands: X [batch, heads, rows, size] or [batch, rows, heads * size], cosines and sines [positions, half] picked by position
// ids, or [batch, rows, half] without them. Narrower types of X leave the tables as they are.
#include "base/types/element.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) == 3 || call.rank(0) == 4, "the input has rank ", call.rank(0), ", expected 3 or 4");
  call.check_shape(call.rank(0) == 4 || call.attributes().integer("num_heads") > 0, "num_heads is needed for an input of rank 3");
  const int rank = call.has(3) ? 2 : 3;
  call.check_shape(call.rank(1) == rank && call.rank(2) == rank, "cosines and sines have the ranks ", call.rank(1), " and ", call.rank(2),
            ", expected ", rank);
  call.out(0, call.dtype(0), call.dims(0));
}

struct Geometry {
  bool apart;  // heads are a dim of their own
  std::int64_t batch, heads, rows, size, turned, half;
  explicit Geometry(const Call& call) {
    const Shape& shape = call.in[0].shape;
    apart = shape.size() == 4;
    batch = shape[0];
    heads = apart ? shape[1] : call.attributes().integer("num_heads");
    rows = apart ? shape[2] : shape[1];
    size = apart ? shape[3] : shape[2] / heads;
    const std::int64_t rotary_dim = call.attributes().integer("rotary_embedding_dim");
    turned = rotary_dim == 0 ? size : rotary_dim;
    half = turned / 2;
    call.check_shape(turned > 0 && turned <= size && turned % 2 == 0, "rotary_embedding_dim is ", turned, " of ", size);
    call.check_shape(call.in[1].shape.back() == half && call.in[2].shape == call.in[1].shape, "cosines are [", text(call.in[1].shape),
              "] and sines [", text(call.in[2].shape), "], expected ", half, " angles");
    call.check_shape(call.has(3) || call.in[1].size() == batch * rows * half, "cosines are [", text(call.in[1].shape), "]");
  }
  std::int64_t offset(std::int64_t b, std::int64_t h, std::int64_t r) const {
    return (apart ? (b * heads + h) * rows + r : (b * rows + r) * heads + h) * size;
  }
};

// The row of the tables that belongs to row r of batch b.
std::int64_t table_row(const Call& call, const Geometry& g, std::int64_t b, std::int64_t r) {
  if (!call.has(3)) return b * g.rows + r;
  const std::int64_t position = load_int(call.in[3].dtype, call.in[3].data, b * g.rows + r);
  call.check_index(position >= 0 && position < call.in[1].shape[0], "position ", position, " is outside a table of ", call.in[1].shape[0]);
  return position;
}

template <class T>
void run(Call& call) {
  const Geometry g(call);
  const bool interleaved = call.attributes().integer("interleaved") != 0;
  call.check_shape(!call.has(3) || call.in[3].size() == g.batch * g.rows, "there are ", call.has(3) ? call.in[3].size() : 0,
            " position ids, expected ", g.batch * g.rows);
  const ops::RealIn<T> x(call.in[0]), cosines(call.in[1]), sines(call.in[2]);
  const ops::RealOut<T> y(call.out[0]);
  for (std::int64_t b = 0; b < g.batch; ++b) {
    for (std::int64_t r = 0; r < g.rows; ++r) {
      const std::int64_t table = table_row(call, g, b, r) * g.half;
      for (std::int64_t h = 0; h < g.heads; ++h) {
        const std::int64_t at = g.offset(b, h, r);
        for (std::int64_t i = g.turned; i < g.size; ++i) y[at + i] = x[at + i];
        for (std::int64_t i = 0; i < g.half; ++i) {
          const std::int64_t first = at + (interleaved ? 2 * i : i), second = interleaved ? first + 1 : first + g.half;
          const double c = cosines[table + i], s = sines[table + i], a = x[first], z = x[second];
          y[first] = static_cast<T>(c * a - s * z);
          y[second] = static_cast<T>(s * a + c * z);
        }
      }
    }
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_rotary_embedding() {
  return {.name = "RotaryEmbedding",
          .min_inputs = 3,
          .max_inputs = 4,
          .types = "T, float, float, int -> T; T: float",
          .attributes = {{"interleaved", 0}, {"num_heads", 0}, {"rotary_embedding_dim", 0}},
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true, .strided = true},
          .onnx_since = 23,
          .cases = {"f32[2,3,4,8] f32[2,4,4] f32[2,4,4]", "f32[2,4,24] f32[9,4] f32[9,4] i64[2,4](0,8) num_heads=3 interleaved=1",
                    "f32[1,2,3,8] f32[1,3,2] f32[1,3,2] rotary_embedding_dim=4", "f16[1,2,3,8] f32[9,4] f32[9,4] i32[1,3](0,8)"}};
}

}  // namespace tenfold::ir
