// What nearly every source above the runtime includes: besides precompiled.h the public headers of engines and builds.
#pragma once
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <unordered_map>

#include "backends/stream.h"
#include "backends/tactic.h"
#include "precompiled.h"
#include "tenfold/build.h"
#include "tenfold/engine.h"
