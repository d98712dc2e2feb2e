// Protection domains, regions, windows, and what is in memory, of AgentOverVerbs.
#include <transport-replay/conformance/agent/agent_state.hpp>
#include <transport-replay/conformance/agent/pattern.hpp>

#include <algorithm>

namespace qps::transport::conformance::agent {

using namespace dissect;
using State = AgentState;

namespace {

struct RightRow {
    Right right;
    bool verbs::Access::* member;
};
constexpr std::array kRights{RightRow{Right::local, &verbs::Access::local_write},
                             RightRow{Right::write, &verbs::Access::remote_write},
                             RightRow{Right::read, &verbs::Access::remote_read},
                             RightRow{Right::atomic, &verbs::Access::remote_atomic},
                             RightRow{Right::bind, &verbs::Access::mw_bind},
                             RightRow{Right::flush_global, &verbs::Access::flush_global},
                             RightRow{Right::flush_persistent, &verbs::Access::flush_persistent}};
static_assert(kRights.size() == kRightWords.size());

}  // namespace

verbs::Access access_of(std::uint64_t rights) {
    verbs::Access access;
    for (const RightRow& row : kRights) access.*row.member = (rights & bit(row.right)) != 0;
    return access;
}

std::uint64_t rights_of(const verbs::Access& access) {
    std::uint64_t rights = 0;
    for (const RightRow& row : kRights) rights |= access.*row.member ? bit(row.right) : 0;
    return rights;
}

std::expected<verbs::Pd, Refused> State::pd_of(const Fields& ask, const Turn& turn) {
    if (const std::uint64_t number = ask.number_or(Key::pd, 0); number != 0) {
        const verbs::Pd* found = pds.find(number);
        if (found == nullptr) return unknown("pd");
        return *found;
    }
    if (!first_pd) {
        const auto made = turn.adapter().alloc_pd();
        if (!made) return refused(made.error(), "alloc_pd");
        first_pd = *made;
    }
    return *first_pd;
}

State::Later State::pd(const Fields&, const Turn& turn) {
    if (pds.full()) return refused("ENOSPC", "pd");
    const auto made = turn.adapter().alloc_pd();
    if (!made) return refused(made.error(), "alloc_pd");
    return Fields{}.add(Key::pd, pds.add(*made));
}

State::Later State::pd_free(const Fields& ask, const Turn& turn) {
    const std::uint64_t number = ask.number_or(Key::pd, 0);
    const verbs::Pd* found = pds.find(number);
    if (found == nullptr) return unknown("pd");
    Answer answer = answer_of(turn.adapter().dealloc_pd(*found), "dealloc_pd");
    if (answer) pds.erase(number);
    return answer;
}

State::Later State::mr(const Fields& ask, const Turn& turn) {
    if (regions.full()) return refused("ENOSPC", "mr");
    const auto pd = pd_of(ask, turn);
    if (!pd) return std::unexpected(pd.error());
    const std::uint64_t length = ask.number_or(Key::len, 0);
    const std::uint64_t offset = ask.number_or(Key::off, 0);
    Region region;
    std::optional<std::uint64_t> address;
    if (const auto of = ask.number(Key::of)) {
        const Region* whole = regions.find(*of);
        if (whole == nullptr) return unknown("mr");
        if (offset > whole->bytes.size() || length > whole->bytes.size() - offset) return refused("ERANGE", "of");
        region.pages = whole->pages;
        region.bytes = whole->bytes.subspan(offset, length);
        address = whole->mr.address + offset;
    } else {
        if (offset != 0) return refused("EINVAL", "off without of");
        if (memory + length > kMostMemory) return refused("ENOMEM", "memory of all regions");
        region.pages = std::make_shared<std::vector<std::byte>>(length);
        region.bytes = *region.pages;
    }
    verbs::Access access = access_of(ask.number_or(Key::access, 0));
    access.local_write |= access.remote_write || access.remote_atomic;  // 10.6.3.1
    const auto made = turn.adapter().reg_mr(*pd, region.bytes, access, address);
    if (!made) return refused(made.error(), "reg_mr");
    region.mr = *made;
    if (!address) memory += length;
    return Fields{}
        .add(Key::mr, regions.add(std::move(region)))
        .add(Key::va, made->address)
        .add(Key::rkey, std::uint64_t{std::to_underlying(made->lkey)})
        .add(Key::lkey, std::uint64_t{std::to_underlying(made->lkey)});
}

State::Later State::mr_free(const Fields& ask, const Turn& turn) {
    const std::uint64_t number = ask.number_or(Key::mr, 0);
    const Region* found = regions.find(number);
    if (found == nullptr) return unknown("mr");
    if (const auto freed = turn.adapter().dereg_mr(found->mr.lkey); !freed) return refused(freed.error(), "dereg_mr");
    if (found->pages.use_count() == 1) memory -= std::min<std::uint64_t>(memory, found->pages->size());
    regions.erase(number);
    return Fields{};
}

State::Later State::mw(const Fields& ask, const Turn& turn) {
    if (windows.full()) return refused("ENOSPC", "mw");
    const auto pd = pd_of(ask, turn);
    if (!pd) return std::unexpected(pd.error());
    const auto type = ask.number_or(Key::mw_type, 2) == 1 ? verbs::MwType::type_1 : verbs::MwType::type_2;
    const auto made = turn.adapter().alloc_mw(*pd, type);
    if (!made) return refused(made.error(), "alloc_mw");
    return Fields{}.add(Key::mw, windows.add({*made})).add(Key::rkey, std::uint64_t{std::to_underlying(made->rkey)});
}

State::Later State::mw_free(const Fields& ask, const Turn& turn) {
    const std::uint64_t number = ask.number_or(Key::mw, 0);
    const Window* found = windows.find(number);
    if (found == nullptr) return unknown("mw");
    Answer answer = answer_of(turn.adapter().dealloc_mw(found->window.handle), "dealloc_mw");
    if (answer) windows.erase(number);
    return answer;
}

std::expected<MutableBytes, Refused> State::memory_of(const Fields& ask, std::uint64_t length) {
    const Region* found = regions.find(ask.number_or(Key::mr, 0));
    const std::uint64_t offset = ask.number_or(Key::off, 0);
    if (found == nullptr) return unknown("mr");
    if (offset > found->bytes.size() || length > found->bytes.size() - offset) return refused("ERANGE", "off and len");
    return found->bytes.subspan(offset, length);
}

State::Later State::set(const Fields& ask, const Turn&) {
    const std::string_view data = ask.text(Key::data);
    const auto bytes = memory_of(ask, data.size());
    if (!bytes) return std::unexpected(bytes.error());
    std::ranges::copy(std::as_bytes(std::span(data)), bytes->begin());
    return Fields{};
}

State::Later State::fill(const Fields& ask, const Turn&) {
    const auto bytes = memory_of(ask, ask.number_or(Key::len, 0));
    if (!bytes) return std::unexpected(bytes.error());
    fill_pattern(*bytes, ask.number_or(Key::seed, 0), ask.number_or(Key::from, 0));
    return Fields{};
}

State::Later State::read(const Fields& ask, const Turn&) {
    const auto bytes = memory_of(ask, ask.number_or(Key::len, 0));
    if (!bytes) return std::unexpected(bytes.error());
    return Fields{}.add(Key::data, std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
}

State::Later State::hash(const Fields& ask, const Turn&) {
    const auto bytes = memory_of(ask, ask.number_or(Key::len, 0));
    if (!bytes) return std::unexpected(bytes.error());
    return Fields{}.add(Key::hash, fnv1a(*bytes));
}

State::Later State::compare(const Fields& ask, const Turn&) {
    const auto bytes = memory_of(ask, ask.number_or(Key::len, 0));
    if (!bytes) return std::unexpected(bytes.error());
    const PatternDifference difference =
        compare_pattern(*bytes, ask.number_or(Key::seed, 0), ask.number_or(Key::from, 0));
    Fields fields;
    fields.add(Key::wrong, difference.wrong);
    if (difference.wrong > 0) fields.add(Key::first, ask.number_or(Key::off, 0) + difference.first);
    return fields;
}

}  // namespace qps::transport::conformance::agent
