// Texts for callers who have none.
#include <array>

#include "tenfold/encoder.h"

namespace tenfold {
namespace {

constexpr std::array<std::string_view, 10> kTexts = {
    "Where can I find the opening hours of the town library?",
    "The quarterly report shows that revenue rose by four percent, while costs stayed level.",
    "A small dog runs across the wet grass after a red ball.",
    "To install the package, download the archive, unpack it and run the setup script as an administrator.",
    "SELECT name, price FROM products WHERE price < 20 ORDER BY name;",
    "Doctors recommend at least half an hour of walking every day.",
    "Yes.",
    "Die Lieferung ist am Montag in Hamburg angekommen, aber zwei Kisten fehlen.",
    "In 1869 Dmitri Mendeleev arranged the known elements by atomic weight and left gaps for those that nobody had found yet; within "
    "fifteen years three of them were discovered, with properties close to what he had foretold.",
    "order #48213: 3 x notebook A5, ruled, 96 pages, shipped 2024-05-17",
};

}  // namespace

std::span<const std::string_view> example_texts() { return kTexts; }

}  // namespace tenfold
