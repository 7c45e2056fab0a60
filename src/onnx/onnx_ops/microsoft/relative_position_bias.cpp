// RelativePositionBias: T5's bias of attention. Keys at a distance from a query fall into buckets, which grow with the distance.
//
// Operands: table (its shape says [buckets, heads], its data lie as [heads, buckets]), number of queries, number of keys.
#include <algorithm>
#include <cmath>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

// The buckets of keys from max_distance before a query to max_distance behind it; those further away are in the last ones.
Ints buckets_by_position(std::int64_t buckets, std::int64_t max_distance, bool both_ways) {
  const std::int64_t own = both_ways ? buckets / 2 : buckets, exact = own / 2;   // for one direction; distances with a bucket of their own
  const float whole = std::log(static_cast<float>(max_distance) / static_cast<float>(exact));   // in float32, as models are trained
  Ints result;
  for (std::int64_t position = -max_distance; position <= max_distance; ++position) {
    const std::int64_t distance = both_ways ? std::abs(position) : std::max<std::int64_t>(-position, 0);
    std::int64_t bucket = distance;
    if (distance >= exact) {
      const float part = std::log(static_cast<float>(distance) / static_cast<float>(exact)) / whole;
      bucket = std::min(exact + static_cast<std::int64_t>(part * static_cast<float>(own - exact)), own - 1);
    }
    result.push_back(bucket + (both_ways && position > 0 ? own : 0));
  }
  return result;
}

Value* length(OnnxImport& call, int i, const char* what) {
  const int rank = known_rank(call, i);
  check_shape(rank <= 1, "the number of ", what, " (input ", i, ") has rank ", rank, ", one number expected");
  return call.in(i);
}

std::vector<Value*> from_1(OnnxImport& call) {
  const std::int64_t max_distance = call.attributes.integer("max_distance");
  const bool both_ways = call.attributes.integer("is_bidirectional", 0) != 0;
  const int rank = known_rank(call, 0);
  check_shape(rank == 2, "the table (input 0) has rank ", rank, ", [buckets, heads] expected");
  const Dims& table = call.in(0)->dims();
  supported(is_constant(table), "a table (input 0) of unknown shape");
  const std::int64_t buckets = table[0].constant(), least = both_ways ? 4 : 2;
  check_shape(buckets >= least, "the table (input 0) has ", buckets, " buckets, ", least, " or more expected");
  validate(max_distance > 0, "max_distance is ", max_distance, ", more than 0 expected");
  check_shape(max_distance > buckets / least, "max_distance is ", max_distance, ", more than ", buckets / least, " expected for ", buckets,
              " buckets");
  supported(max_distance <= 1 << 20, "max_distance is ", max_distance, ": at most 2^20 are supported");
  const auto i64 = [&](std::int64_t value) { return call.scalar(DType::i64, static_cast<double>(value)); };
  Value* by_bucket = reshaped(call, call.in(0), {table[1].constant(), buckets});
  Value* by_position =
      one(call, "Gather", {by_bucket, call.ints(buckets_by_position(buckets, max_distance, both_ways))}, {{"axis", 1}});
  Value* queries = unsqueezed(call, counted(call, length(call, 1, "queries")), {1});
  Value* keys = unsqueezed(call, counted(call, length(call, 2, "keys")), {0});
  Value* positions = one(call, "Clip", {one(call, "Sub", {keys, queries}), i64(-max_distance), i64(max_distance)});
  Value* bias = one(call, "Gather", {by_position, one(call, "Add", {positions, i64(max_distance)})}, {{"axis", 1}});
  return {unsqueezed(call, bias, {0})};
}

}  // namespace

OnnxOp onnx_microsoft_relative_position_bias() { return {.name = "RelativePositionBias", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
