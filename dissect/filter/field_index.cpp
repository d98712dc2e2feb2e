// The index of names, built from the header tables, and its guesses at misspelt ones.
#include <dissect/filter/field_index.hpp>
#include <dissect/ulp/iscsi.hpp>
#include <dissect/ulp/srp.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <vector>

namespace qps::dissect {

namespace {

struct Alias {
    std::string_view name;
    std::array<std::string_view, 2> targets;
};

constexpr std::array kAliases{
    Alias{"eth.addr", {"eth.dst", "eth.src"}},  // as on the wire
    Alias{"ip.addr", {"ip.src", "ip.dst"}},
    Alias{"ip.host", {"ip.src", "ip.dst"}},
    Alias{"ipv6.addr", {"ipv6.src", "ipv6.dst"}},
    Alias{"ipv6.host", {"ipv6.src", "ipv6.dst"}},
    Alias{"udp.port", {"udp.srcport", "udp.dstport"}},
    Alias{"tcp.port", {"tcp.srcport", "tcp.dstport"}},
    Alias{"infiniband.grh.gid", {"infiniband.grh.sgid", "infiniband.grh.dgid"}},
    Alias{"infiniband.lrh.lid", {"infiniband.lrh.slid", "infiniband.lrh.dlid"}},
    Alias{"frame.time", {"frame.time_epoch", {}}},
};

// What guides and habit say, and what it is called here.
struct Habit {
    std::string_view said;
    std::string_view meant;
};

constexpr std::array kHabits{
    Habit{"infiniband.bth.dstqp", "infiniband.bth.destqp"},
    Habit{"infiniband.bth.qpn", "infiniband.bth.destqp"},
    Habit{"infiniband.bth.dest_qp", "infiniband.bth.destqp"},
    Habit{"infiniband.bth.ackreq", "infiniband.bth.a"},
    Habit{"infiniband.bth.migreq", "infiniband.bth.m"},
    Habit{"infiniband.reth.remote_key", "infiniband.reth.r_key"},
    Habit{"infiniband.icrc", "infiniband.invariant.crc"},
    Habit{"infiniband.vcrc", "infiniband.variant.crc"},
    Habit{"infiniband.cnp.becn", "infiniband.bth.becn"},
    Habit{"infiniband.aeth.nak", "infiniband.aeth.syndrome.error_code"},
    Habit{"udp.sport", "udp.srcport"},
    Habit{"udp.dport", "udp.dstport"},
    Habit{"tcp.sport", "tcp.srcport"},
    Habit{"tcp.dport", "tcp.dstport"},
    Habit{"udp.payload", "udp[8:]"},
    Habit{"frame.time_delta", "frame.time_relative"},
    Habit{"frame.protocols", "rdma.encapsulation"},
    Habit{"_ws.expert", "rdma.finding"},
    Habit{"tcp.analysis.retransmission", "rdma.retransmission"},
    Habit{"http", "tcp.port == 80"},
    Habit{"tls", "tcp.port == 443"},
    Habit{"ip.ecn", "ip.dsfield.ecn"},
    Habit{"ip.dscp", "ip.dsfield.dscp"},
    Habit{"cnp", "infiniband.cnp"},
    Habit{"roce", "rdma.encapsulation == RoCEv2"},
    Habit{"rroce", "rdma.encapsulation == RoCEv2"},
    Habit{"rocev2", "rdma.encapsulation == RoCEv2"},
    Habit{"rocev1", "rdma.encapsulation == RoCEv1"},
    Habit{"ib", "infiniband"},
    Habit{"pfc", "macc.cbfc"},
    Habit{"pause", "macc.pause"},
    Habit{"gre.checksum", "gre.checksum_present"},
};

// Names are shorter than this; what is longer is not corrected, so that a guess stays cheap.
constexpr std::size_t kLongestName = 80;

// More edits than this and a guess misleads.
constexpr std::size_t kMostEdits = 4;

struct NameIndex {
    std::vector<NameEntry> entries;
    std::vector<std::uint32_t> by_name;  // indices of entries, sorted by name
    std::deque<std::vector<FieldPlace>> places;
    std::deque<std::vector<LayerKind>> layers;
};

struct Collected {
    std::vector<FieldPlace> fields;
    std::vector<LayerKind> layers;
    bool alias = false;
    bool group = false;
};

// Gathers what stands under each name, in order of first sight.
class Collector {
public:
    Collected& operator[](std::string_view name) {
        const auto [place, fresh] = by_name_.try_emplace(name);
        if (fresh) order_.push_back(name);
        return place->second;
    }
    [[nodiscard]] bool knows(std::string_view name) const { return by_name_.contains(name); }
    [[nodiscard]] const std::vector<std::string_view>& order() const { return order_; }

private:
    std::map<std::string_view, Collected> by_name_;
    std::vector<std::string_view> order_;
};

void add_headers(Collector& names) {
    for (std::size_t i = 0; i < kLayerKinds; ++i) {
        const auto kind = static_cast<LayerKind>(i);
        const Header& row = header(kind);
        if (!row.name.empty()) names[row.name].layers.push_back(kind);
        for (const Field& field : row.fields)
            if (!field.name.empty()) names[field.name].fields.push_back({kind, &field});
    }
}

void add_aliases(Collector& names) {
    for (const Alias& alias : kAliases) {
        if (names.knows(alias.name)) continue;
        std::vector<FieldPlace> places;
        for (const std::string_view target : alias.targets)
            if (names.knows(target))
                places.insert(places.end(), names[target].fields.begin(), names[target].fields.end());
        if (places.empty()) continue;
        names[alias.name].fields = std::move(places);
        names[alias.name].alias = true;
    }
}

// Words for all headers of a protocol, whatever these are called: "iscsi", "srp", "iwarp".
struct FamilyWord {
    std::string_view word;
    LayerFamily family{};
};
constexpr std::array kFamilyWords{
    FamilyWord{"nvme", LayerFamily::nvme},   FamilyWord{"iscsi", LayerFamily::iscsi},
    FamilyWord{"srp", LayerFamily::srp},     FamilyWord{"smb", LayerFamily::smb_direct},
    FamilyWord{"rds", LayerFamily::rds},     FamilyWord{"rsockets", LayerFamily::rsockets},
    FamilyWord{"iwarp", LayerFamily::iwarp},
};

void add_families(Collector& names) {
    for (const FamilyWord& row : kFamilyWords) {
        if (names.knows(row.word)) continue;
        std::vector<LayerKind> kinds;
        for (std::size_t i = first_of(row.family); i < end_of(row.family); ++i)
            if (const auto kind = static_cast<LayerKind>(i); !header(kind).title.empty()) kinds.push_back(kind);
        names[row.word].layers = std::move(kinds);
        names[row.word].group = true;
    }
}

// A dotted beginning that several headers share names them all: "infiniband", "infiniband.cm".
void add_groups(Collector& names) {
    std::map<std::string_view, std::vector<LayerKind>> groups;
    for (std::size_t i = 0; i < kLayerKinds; ++i) {
        const auto kind = static_cast<LayerKind>(i);
        const std::string_view name = header(kind).name;
        for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1))
            groups[name.substr(0, dot)].push_back(kind);
    }
    for (const auto& [name, kinds] : groups) {
        if (names.knows(name)) continue;
        names[name].layers = kinds;
        names[name].group = true;
    }
}

NameIndex build() {
    Collector names;
    add_headers(names);
    add_aliases(names);
    add_families(names);
    add_groups(names);
    NameIndex index;
    for (const std::string_view name : names.order()) {
        Collected& collected = names[name];
        index.entries.push_back({name, index.places.emplace_back(std::move(collected.fields)),
                                 index.layers.emplace_back(std::move(collected.layers)), collected.alias,
                                 collected.group});
        index.by_name.push_back(static_cast<std::uint32_t>(index.by_name.size()));
    }
    std::ranges::sort(index.by_name, {}, [&](std::uint32_t i) { return index.entries[i].name; });
    return index;
}

const NameIndex& index_of_names() {
    static const NameIndex index = build();
    return index;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

bool ends_in_word(std::string_view name, std::string_view word) {
    return name.size() > word.size() && same_but_case(name.substr(name.size() - word.size()), word) &&
           name[name.size() - word.size() - 1] == '.';
}

// A name that ends in ".bth.psn" for "bth.psn" or "ib.bth.psn".
std::string_view ends_alike(std::string_view name) {
    for (std::string_view tail = name; tail.contains('.'); tail = tail.substr(tail.find('.') + 1))
        for (const NameEntry& entry : index_of_names().entries)
            if (is_meant(entry, name) && ends_in_word(entry.name, tail)) return entry.name;
    return {};
}

// A header for the last word alone, which says too little of a field: "infiniband.bth" for "ib.bth".
std::string_view header_of_last_word(std::string_view name) {
    const std::string_view word = name.substr(name.rfind('.') + 1);
    for (const NameEntry& entry : index_of_names().entries)
        if (entry.fields.empty() && is_meant(entry, name) && ends_in_word(entry.name, word)) return entry.name;
    return {};
}
std::string_view header_named(std::string_view name) {
    return name.contains('.') ? std::string_view{} : header_of_last_word(name);
}

std::string_view fewest_edits(std::string_view name) {
    std::size_t limit = std::min(kMostEdits, name.size() / 4 + 1);
    std::string_view best;
    for (const NameEntry& entry : index_of_names().entries) {
        const auto distance = edit_distance(name, entry.name, limit);
        if (!distance) continue;
        best = entry.name;
        if (*distance == 0) break;
        limit = *distance - 1;
    }
    return best;
}

// The first name that begins as this one.
std::string_view begins_alike(std::string_view name) {
    if (!name.contains('.') || name.ends_with('.')) return {};
    for (const NameEntry& entry : index_of_names().entries)
        if (entry.name.starts_with(name)) return entry.name;
    return {};
}

// The first field of the same header that has the last word in its name.
std::string_view holds_last_word(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot + 1 == name.size()) return {};
    for (const NameEntry& entry : index_of_names().entries)
        if (entry.name.starts_with(name.substr(0, dot + 1)) &&
            entry.name.substr(dot + 1).contains(name.substr(dot + 1)))
            return entry.name;
    return {};
}

}  // namespace

bool is_meant(const NameEntry& entry, std::string_view typed) {
    return !entry.name.starts_with("rdma.quoted") || typed.contains("quo");
}

std::span<const NameEntry> all_names() { return index_of_names().entries; }

const NameEntry* find_name(std::string_view name) {
    const NameIndex& index = index_of_names();
    const auto name_at = [&](std::uint32_t i) { return index.entries[i].name; };
    const auto found = std::ranges::lower_bound(index.by_name, name, {}, name_at);
    return found != index.by_name.end() && name_at(*found) == name ? &index.entries[*found] : nullptr;
}

std::optional<std::size_t> edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    if (a.size() > kLongestName || b.size() > kLongestName) return std::nullopt;
    if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return std::nullopt;
    using Row = std::array<std::size_t, kLongestName + 1>;
    Row before{};
    Row above{};
    Row row{};
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        std::size_t smallest = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = std::min(row[j], before[j - 2] + 1);
            smallest = std::min(smallest, row[j]);
        }
        if (smallest > limit) return std::nullopt;
        before = above;
        above = row;
    }
    return above[b.size()] <= limit ? std::optional(above[b.size()]) : std::nullopt;
}

std::string nearest_name(std::string_view name) {
    if (name.empty() || name.size() > kLongestName) return {};
    for (const Habit& habit : kHabits)
        if (same_but_case(habit.said, name)) return std::string(habit.meant);
    for (const auto guess :
         {ends_alike, header_named, begins_alike, fewest_edits, holds_last_word, header_of_last_word})
        if (const std::string_view found = guess(name); !found.empty()) return std::string(found);
    return {};
}

}  // namespace qps::dissect
