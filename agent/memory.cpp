// Protection domains, regions, windows, and what is in memory.
#include <transport-replay/conformance/agent/pattern.hpp>

#include <algorithm>

#include <agent/agent.hpp>

namespace qps::agent {

namespace {

struct RightBit {
    Right right;
    unsigned access;
};
// Flushing: as in the kernel's uapi/rdma/ib_user_verbs.h; older headers of libibverbs lack the names.
constexpr std::array kRightBits{
    RightBit{Right::local, IBV_ACCESS_LOCAL_WRITE}, RightBit{Right::write, IBV_ACCESS_REMOTE_WRITE},
    RightBit{Right::read, IBV_ACCESS_REMOTE_READ},  RightBit{Right::atomic, IBV_ACCESS_REMOTE_ATOMIC},
    RightBit{Right::bind, IBV_ACCESS_MW_BIND},      RightBit{Right::flush_global, 1U << 8},
    RightBit{Right::flush_persistent, 1U << 9}};

}  // namespace

unsigned access_of(std::uint64_t rights) {
    unsigned access = 0;
    for (const RightBit& each : kRightBits) access |= (rights & bit(each.right)) != 0 ? each.access : 0;
    return access;
}

std::uint64_t rights_of(unsigned access) {
    std::uint64_t rights = 0;
    for (const RightBit& each : kRightBits) rights |= (access & each.access) != 0 ? bit(each.right) : 0;
    return rights;
}

Answer Agent::pd(const Fields&) {
    if (objects_.pds.full()) return refused(ENOSPC, "pd");
    OwnedPd made(ibv_alloc_pd(device_.context()));
    if (!made) return refused(errno, "ibv_alloc_pd");
    Answer answer;
    answer.fields.add(Key::pd, objects_.pds.add(std::move(made)));
    return answer;
}

Answer Agent::pd_free(const Fields& ask) {
    const std::uint64_t number = ask.number_or(Key::pd, 0);
    OwnedPd* found = objects_.pds.find(number);
    if (found == nullptr) return unknown("pd");
    if (const int error = ibv_dealloc_pd(found->get()); error != 0) return refused(error, "ibv_dealloc_pd");
    static_cast<void>(found->release());
    objects_.pds.erase(number);
    return {};
}

Answer Agent::mr(const Fields& ask) {
    if (objects_.regions.full()) return refused(ENOSPC, "mr");
    ibv_pd* const pd = objects_.pd(ask.number_or(Key::pd, 0));
    if (pd == nullptr) return unknown("pd");
    const std::uint64_t length = ask.number_or(Key::len, 0);
    const std::uint64_t offset = ask.number_or(Key::off, 0);
    Region region;
    if (const auto of = ask.number(Key::of)) {
        const Region* whole = objects_.regions.find(*of);
        if (whole == nullptr) return unknown("mr");
        if (offset > whole->bytes.size() || length > whole->bytes.size() - offset) return refused(ERANGE, "of");
        region.pages = whole->pages;
        region.bytes = whole->bytes.subspan(offset, length);
    } else {
        if (offset != 0) return refused(EINVAL, "off without of");
        if (objects_.memory + length > kMostMemory) return refused(ENOMEM, "memory of all regions");
        region.pages = Pages::make(length);
        if (!region.pages) return refused(ENOMEM, "mmap");
        region.bytes = {region.pages->begin(), length};
    }
    std::uint64_t rights = ask.number_or(Key::access, 0);
    if ((rights & (bit(Right::write) | bit(Right::atomic))) != 0) rights |= bit(Right::local);  // 10.6.3.1
    region.mr.reset(ibv_reg_mr(pd, region.bytes.data(), length, access_of(rights)));
    if (!region.mr) return refused(errno, "ibv_reg_mr");
    const auto va = reinterpret_cast<std::uint64_t>(region.bytes.data());
    const std::uint64_t rkey = region.mr->rkey;
    const std::uint64_t lkey = region.mr->lkey;
    if (!ask.has(Key::of)) objects_.memory += length;
    Answer answer;
    answer.fields.add(Key::mr, objects_.regions.add(std::move(region)))
        .add(Key::va, va)
        .add(Key::rkey, rkey)
        .add(Key::lkey, lkey);
    return answer;
}

Answer Agent::mr_free(const Fields& ask) {
    const std::uint64_t number = ask.number_or(Key::mr, 0);
    Region* found = objects_.regions.find(number);
    if (found == nullptr) return unknown("mr");
    if (const int error = ibv_dereg_mr(found->mr.get()); error != 0) return refused(error, "ibv_dereg_mr");
    static_cast<void>(found->mr.release());
    if (found->pages.use_count() == 1)
        objects_.memory -= std::min<std::uint64_t>(objects_.memory, found->pages->size());
    objects_.regions.erase(number);
    return {};
}

Answer Agent::mw(const Fields& ask) {
    if (objects_.windows.full()) return refused(ENOSPC, "mw");
    ibv_pd* const pd = objects_.pd(ask.number_or(Key::pd, 0));
    if (pd == nullptr) return unknown("pd");
    const auto type = static_cast<unsigned>(ask.number_or(Key::mw_type, 2));
    Window window{.mw = OwnedMw(ibv_alloc_mw(pd, type == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2)), .type = type};
    if (!window.mw) return refused(errno, "ibv_alloc_mw");
    const std::uint64_t rkey = window.mw->rkey;
    Answer answer;
    answer.fields.add(Key::mw, objects_.windows.add(std::move(window))).add(Key::rkey, rkey);
    return answer;
}

Answer Agent::mw_free(const Fields& ask) {
    const std::uint64_t number = ask.number_or(Key::mw, 0);
    Window* found = objects_.windows.find(number);
    if (found == nullptr) return unknown("mw");
    if (const int error = ibv_dealloc_mw(found->mw.get()); error != 0) return refused(error, "ibv_dealloc_mw");
    static_cast<void>(found->mw.release());
    objects_.windows.erase(number);
    return {};
}

std::optional<std::span<std::byte>> Agent::memory_of(const Fields& ask, std::uint64_t length, Answer& why) {
    const Region* found = objects_.regions.find(ask.number_or(Key::mr, 0));
    const std::uint64_t offset = ask.number_or(Key::off, 0);
    if (found == nullptr) why = unknown("mr");
    else if (offset > found->bytes.size() || length > found->bytes.size() - offset)
        why = refused(ERANGE, "off and len");
    else return found->bytes.subspan(offset, length);
    return std::nullopt;
}

Answer Agent::set(const Fields& ask) {
    Answer answer;
    const std::string_view data = ask.text(Key::data);
    const auto memory = memory_of(ask, data.size(), answer);
    if (memory) std::ranges::copy(std::as_bytes(std::span(data)), memory->begin());
    return answer;
}

Answer Agent::fill(const Fields& ask) {
    Answer answer;
    const auto memory = memory_of(ask, ask.number_or(Key::len, 0), answer);
    if (memory) fill_pattern(*memory, ask.number_or(Key::seed, 0), ask.number_or(Key::from, 0));
    return answer;
}

Answer Agent::read(const Fields& ask) {
    Answer answer;
    const auto memory = memory_of(ask, ask.number_or(Key::len, 0), answer);
    if (memory)
        answer.fields.add(Key::data, std::string_view(reinterpret_cast<const char*>(memory->data()), memory->size()));
    return answer;
}

Answer Agent::hash(const Fields& ask) {
    Answer answer;
    const auto memory = memory_of(ask, ask.number_or(Key::len, 0), answer);
    if (memory) answer.fields.add(Key::hash, fnv1a(*memory));
    return answer;
}

Answer Agent::compare(const Fields& ask) {
    Answer answer;
    const auto memory = memory_of(ask, ask.number_or(Key::len, 0), answer);
    if (!memory) return answer;
    const PatternDifference difference =
        compare_pattern(*memory, ask.number_or(Key::seed, 0), ask.number_or(Key::from, 0));
    answer.fields.add(Key::wrong, difference.wrong);
    if (difference.wrong > 0) answer.fields.add(Key::first, ask.number_or(Key::off, 0) + difference.first);
    return answer;
}

}  // namespace qps::agent
