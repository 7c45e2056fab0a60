// What nearly every source of src/text includes, which sees the public headers alone.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "tenfold/build.h"
#include "tenfold/encoder.h"
#include "tenfold/engine.h"
#include "tenfold/network.h"
#include "tenfold/text.h"
