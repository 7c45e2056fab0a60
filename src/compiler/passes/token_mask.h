// Reading attention masks: is one made of an input of [batch, sequence] whose zeros hide tokens?
#pragma once

#include <map>
#include <optional>

#include "ir/op_def.h"

namespace tenfold::passes {

// Follows a mask's arithmetic from an input `root` of [batch, sequence]. A value that depends, at each place, on one element of the root
// alone is known by what it is for 0 and for 1, and by the axes that number the root's rows and columns.
class TokenMask {
 public:
  explicit TokenMask(const ir::Value* root);
  const ir::Value* root() const { return root_; }

  // Does the addend `v` of scores [batch, heads, queries, keys] hide key t of row b where root[b, t] is 0, and is it 0 elsewhere?
  bool hides_keys(const ir::Value* v);
  // Is `v`, of [batch, sequence], 0 where the root is?
  bool zero_where_hidden(const ir::Value* v);
  // What hid keys is known for 0 and 1 only: it was made of the root's numbers, not only of whether they are 0.
  bool only_0_and_1() const { return only_0_and_1_; }

 private:
  struct Form {
    Tensor values;                     // for 0 and for 1
    int batch = -1, key = -1;          // axes; -1: all along it is the same
    int both = -1;                     // instead: an axis of batch * sequence
    bool raw = false;                  // the root's own numbers
    bool strict = false;               // arithmetic was on them, and not only on whether they are 0
  };
  using Known = std::optional<Form>;
  struct Index { ir::Dims steps; ir::Dim first; };   // an integer value: first + the sum of place[i] * steps[i]

  const Known& form(const ir::Value* v);
  Known form_of(const ir::Value* v);
  Known of_constant(const ir::Value* v);
  Known pointwise(const ir::Node& n);
  Known reshaped(const ir::Node& n);
  Known expanded(const ir::Node& n);
  Known gathered(const ir::Node& n);
  std::optional<Index> index_of(const ir::Value* v);
  std::optional<Index> counted(const ir::Value* v);
  bool never_negative(const ir::Value* v);

  const ir::Value* root_;
  std::map<const ir::Value*, Known> known_;
  bool only_0_and_1_ = false;
};

}  // namespace tenfold::passes
