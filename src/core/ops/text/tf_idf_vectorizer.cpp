// TfIdfVectorizer: how often each n-gram of a pool occurs in each row, with up to so many elements skipped between its parts.
#include <algorithm>
#include <map>

#include "base/types/element.h"
#include "ir/fault.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

// What the attributes say, with the checks that need no data.
struct Setup {
  Ints starts, columns;           // of the n-grams of each length in the pool; the column that counts each n-gram
  std::vector<float> weights;
  std::int64_t shortest, longest, skips, width;
  bool at_most_one;               // IDF: a count above 1 is 1

  explicit Setup(const Attributes& a) {
    for (const char* needed : {"mode", "ngram_counts", "ngram_indexes", "min_gram_length", "max_gram_length", "max_skip_count"})
      validate(a.has(needed), "attribute '", needed, "' is missing");
    const std::string& mode = a.string("mode");
    validate(mode == "TF" || mode == "IDF" || mode == "TFIDF", "mode is '", mode, "', TF, IDF or TFIDF expected");
    starts = a.ints("ngram_counts"), columns = a.ints("ngram_indexes");
    weights = a.has("weights") ? a.floats("weights") : std::vector<float>();
    shortest = a.integer("min_gram_length"), longest = a.integer("max_gram_length"), skips = a.integer("max_skip_count");
    at_most_one = mode == "IDF";
    if (mode == "TF") weights.clear();
    validate(shortest >= 1 && longest >= shortest, "n-grams have ", shortest, " to ", longest, " parts");
    validate(skips >= 0, "max_skip_count is ", skips);
    validate(!columns.empty(), "ngram_indexes is empty");
    for (const std::int64_t column : columns) validate(column >= 0 && column < 1 << 30, "ngram_indexes has the column ", column);
    width = *std::max_element(columns.begin(), columns.end()) + 1;
    validate(weights.empty() || static_cast<std::int64_t>(weights.size()) >= width, "there are ", weights.size(), " weights for ", width,
             " columns");
  }
};

// Columns by n-gram.
template <class T>
using Pool = std::map<std::vector<T>, std::int64_t>;

template <class T>
Pool<T> pool_of(const Setup& s, const std::vector<T>& parts) {
  Pool<T> pool;
  std::size_t number = 0;
  for (std::size_t i = 0; i < s.starts.size(); ++i) {
    const std::int64_t begin = s.starts[i], length = static_cast<std::int64_t>(i) + 1;
    const auto end = i + 1 < s.starts.size() ? s.starts[i + 1] : static_cast<std::int64_t>(parts.size());
    validate(begin >= 0 && begin <= end && end <= static_cast<std::int64_t>(parts.size()), "ngram_counts has ", begin, " before ", end,
             " in a pool of ", parts.size());
    for (std::int64_t at = begin; at + length <= end; at += length, ++number) {
      validate(number < s.columns.size(), "the pool has more n-grams than ngram_indexes has columns, ", s.columns.size());
      if (length >= s.shortest && length <= s.longest) pool[{parts.begin() + at, parts.begin() + at + length}] = s.columns[number];
    }
  }
  return pool;
}

// f(column) for each n-gram of the row. Single parts are the same for every distance, and count once.
template <class T, class F>
void find_grams(const Setup& s, const Pool<T>& pool, std::span<const T> row, F&& f) {
  const auto size = static_cast<std::int64_t>(row.size());
  std::vector<T> gram;
  for (std::int64_t distance = 1; distance <= 1 + std::min(s.skips, size); ++distance)
    for (std::int64_t first = 0; first < size; ++first) {
      gram.clear();
      for (std::int64_t at = first; at < size && static_cast<std::int64_t>(gram.size()) < s.longest; at += distance) {
        gram.push_back(row[static_cast<std::size_t>(at)]);
        if (static_cast<std::int64_t>(gram.size()) < s.shortest || (gram.size() == 1 && distance > 1)) continue;
        if (const auto found = pool.find(gram); found != pool.end()) f(found->second);
      }
    }
}

template <class T>
void count(const Setup& s, const std::vector<T>& parts, std::span<const T> all, std::int64_t rows, float* y) {
  const Pool<T> pool = pool_of(s, parts);
  const std::size_t length = rows == 0 ? 0 : all.size() / static_cast<std::size_t>(rows), width = static_cast<std::size_t>(s.width);
  std::fill_n(y, static_cast<std::size_t>(rows) * width, 0.0f);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    float* const to = y + r * width;
    find_grams(s, pool, all.subspan(r * length, length), [&](std::int64_t column) { ++to[column]; });
    for (std::size_t c = 0; c < width; ++c) {
      if (s.at_most_one) to[c] = std::min(to[c], 1.0f);
      if (!s.weights.empty()) to[c] *= s.weights[c];   // by column, as ONNX Runtime has it
    }
  }
}

void infer(InferCall& call) {
  const Setup s(call.attributes());
  call.check_shape(call.rank(0) == 1 || call.rank(0) == 2, "the data have rank ", call.rank(0), ", 1 or 2 expected");
  const char* pool = call.dtype(0) == DType::string ? "pool_strings" : "pool_int64s";
  call.validate(call.attributes().has(pool), "attribute '", pool, "' is missing, for data of ", name(call.dtype(0)));
  if (call.dtype(0) == DType::string) pool_of(s, call.attributes().strings(pool));
  else pool_of(s, call.attributes().ints(pool));
  Dims dims = call.dims(0);
  dims.back() = Dim(s.width);
  call.out(0, DType::f32, std::move(dims));
}

std::int64_t rows_of(const Shape& shape) { return shape.size() == 1 ? 1 : shape[0]; }

void reference(Call& call) {
  const Ints all = ops::read_ints(call.in[0]);
  count<std::int64_t>(Setup(call.attributes()), call.attributes().ints("pool_int64s"), all, rows_of(call.in[0].shape),
                      call.out[0].as<float>());
}

void on_values(ValueCall& call) {
  const Setup s(call.attributes());
  Shape shape = call.tensor(0).shape();
  const std::int64_t rows = rows_of(shape);
  shape.back() = s.width;
  Tensor y(DType::f32, shape);
  count<std::string>(s, call.attributes().strings("pool_strings"), call.strings(0), rows, y.mutable_data<float>());
  call.give(0, std::move(y));
}

}  // namespace

OpDef op_tf_idf_vectorizer() {
  return {.name = "TfIdfVectorizer",
          .types = "i32|i64|string -> f32",
          .optional_attributes = "max_gram_length: int, max_skip_count: int, min_gram_length: int, mode: string, ngram_counts: ints, "
                                 "ngram_indexes: ints, pool_int64s: ints, pool_strings: strings, weights: floats",
          .infer = infer,
          .reference = reference,
          .onnx_since = 9,
          .cases = {"i64[2,7](0,9) mode=\"TF\" min_gram_length=1 max_gram_length=2 max_skip_count=3 ngram_counts=[0,4] "
                    "ngram_indexes=[0,1,2,3,4,5,6] pool_int64s=[2,3,5,4,5,6,7,8,6,7]",
                    "i32[9](0,9) mode=\"TFIDF\" min_gram_length=2 max_gram_length=2 max_skip_count=1 ngram_counts=[0,1] "
                    "ngram_indexes=[1,0] pool_int64s=[2,5,6] weights=[2.0,0.5]"},
          .on_host = "it looks n-grams up in a table",
          .on_values = on_values};
}

}  // namespace tenfold::ir
