// What parts are made of, as descriptions: frames and times of a report are all in reach of what moves them, and shapes
// tell types apart.
#include <tests/support/catch.hpp>
#include <transport-replay/parts/archived_type.hpp>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::parts;

namespace {

bool contains(const Type& type, const Type& wanted) {
    if (&type == &wanted) return true;
    if (type.item != nullptr && contains(*type.item, wanted)) return true;
    if (type.members == nullptr) return false;
    for (const Member& member : type.members())
        if (contains(*member.type, wanted)) return true;
    return false;
}

// Whether a set, or the key of a map, somewhere in it has values of the wanted type: for_each_of() cannot change them
// in place.
bool hides(const Type& type, const Type& wanted) {
    if (type.make == Make::set && contains(*type.item, wanted)) return true;
    if (type.make == Make::map && contains(*type.item->members()[0].type, wanted)) return true;
    if (type.item != nullptr && hides(*type.item, wanted)) return true;
    if (type.members == nullptr) return false;
    for (const Member& member : type.members())
        if (hides(*member.type, wanted)) return true;
    return false;
}

}  // namespace

TEST_CASE("frames and times of a report are nowhere in the keys of a set or map") {
    CHECK(contains(type_of<PartReport>(), type_of<dissect::FrameIndex>()));
    CHECK(contains(type_of<PartReport>(), type_of<dissect::Instant>()));
    CHECK_FALSE(hides(type_of<PartReport>(), type_of<dissect::FrameIndex>()));
    CHECK_FALSE(hides(type_of<PartReport>(), type_of<dissect::Instant>()));

    const Type set{.make = Make::set, .item = &type_of<dissect::Instant>()};
    const Type list{.make = Make::list, .item = &set};
    CHECK(hides(list, type_of<dissect::Instant>()));
}

TEST_CASE("types of different shapes have different numbers") {
    const Type small{.make = Make::number, .size = 1}, large{.make = Make::number, .size = 8};
    CHECK(shape_of(small) != shape_of(large));
    const Type list{.make = Make::list, .item = &small}, optional{.make = Make::optional, .item = &small};
    CHECK(shape_of(list) != shape_of(optional));
    const Type few{.make = Make::enumeration, .size = 1, .end = 3},
        more{.make = Make::enumeration, .size = 1, .end = 4};
    CHECK(shape_of(few) != shape_of(more));
    CHECK(shape_of(type_of<PartReport>()) != shape_of(type_of<GateReport>()));
}
