// Grower: the text of a random graph, step by step; what the random-graph test builds and runs.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold {

// The batch is a symbol. Every value is f32 and keeps its batch in front.
class Grower {
 public:
  explicit Grower(std::uint64_t seed) : random_(seed), quantized_(seed % 8 == 7) {}
  std::string grow();
  Shape start() const { return values_[0].shape; }

 private:
  struct Grown { std::string name; Shape shape; bool used = false; };   // the shape without the batch

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  std::int64_t pick(std::initializer_list<std::int64_t> from) { return from.begin()[below(static_cast<int>(from.size()))]; }
  std::string constant(const Shape& shape);
  std::string number(double value);
  std::string ints(const std::vector<std::int64_t>& list);
  // A further node; its name, for pieces of several nodes. Only add() makes its result an operand of later steps.
  std::string node(const std::string& call, int outputs = 1);
  void add(const std::string& call, Shape shape);
  void keep(const std::string& name, Shape shape);
  std::vector<std::string> unused() const;
  Grown& operand();

  void step();
  void plain_step(const Grown& v);
  void unary(const Grown& v);
  void join(const Grown& v);
  void scale(const Grown& v);
  void product(const Grown& v);
  void reshape(const Grown& v);
  void slice(const Grown& v);
  void concat(const Grown& v);
  void reduce(const Grown& v);
  void pool(const Grown& v);
  void convolve(const Grown& v);
  // Pieces of several nodes, as exporters write them (graph_grower_pieces.cpp).
  void piece(const Grown& v);
  void split(const Grown& v);
  void gather(const Grown& v);
  void norm(const Grown& v);
  void pieces_of_norm(const Grown& v);
  void pieces_of_softmax(const Grown& v);
  void chain_of_concats(const Grown& v);
  void channels_last(const Grown& v);
  void expand(const Grown& v);
  void masked_mean(const Grown& v);
  void attention(const Grown& v);
  void flat_product(const Grown& v);
  void rows(const Grown& v);
  // Quantized layers (graph_grower_quantized.cpp).
  void quantized();
  void quantized_layer(std::string& name, Shape& shape);
  std::string on_grid(const std::string& name);
  std::string weights(const Shape& shape, int axis);
  std::string power(int min, int max);

  std::mt19937_64 random_;
  bool quantized_;   // begins with quantized layers
  std::vector<Grown> values_;
  std::string header_, lists_, body_;   // constants stand before the nodes
  int count_ = 0;
};

}  // namespace tenfold
