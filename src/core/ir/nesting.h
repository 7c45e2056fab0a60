// How deep graphs may lie inside each other: bodies of control flow, in models, texts and plans alike. What walks them recurses.
#pragma once

namespace tenfold::ir {

inline constexpr int kMaxNested = 64;   // bodies around the innermost node; the top graph does not count

}  // namespace tenfold::ir
