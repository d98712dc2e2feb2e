// Ties files and values to hosts.
#include <transport-replay/casework/file_names.hpp>
#include <transport-replay/casework/host_ties.hpp>
#include <transport-replay/casework/word_finder.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <re2/re2.h>

namespace qps::casework {

namespace {

// An archive, or a member that is named only: what it is called says nothing of a host.
bool has_no_lines(const CaseFile& file) { return file.archive || (file.lines == 0 && !file.problem.empty()); }

// Hosts that anything names.
std::set<std::string> hosts_known(const Case& found) {
    // Roles that files are named after: "initiator.txt".
    std::set<std::string> known{"initiator", "target", "client", "server", "sender", "receiver", "switch", "host"};
    for (const auto& hosts : found.hosts_said)
        for (const auto& [host, lines] : hosts) known.insert(host);
    for (const auto& [address, host] : found.addresses) known.insert(host);
    for (const CaseFile& file : found.files)
        if (std::string host = has_no_lines(file) ? "" : host_in_name(file.name);
            !host.empty() && !file.name.ends_with(".txt"))
            known.insert(std::move(host));
    return known;
}

// Looks for hosts in names of files.
class HostFinder {
public:
    explicit HostFinder(const std::set<std::string>& hosts)
        : hosts_(hosts.begin(), std::next(hosts.begin(), static_cast<std::ptrdiff_t>(std::min(hosts.size(), kMost)))),
          finder_(hosts_) {}

    // The longest that stands between edges of the name.
    [[nodiscard]] std::string_view in(std::string_view name) const {
        std::string_view longest;
        const auto edge = [&](std::size_t place) {
            return place >= name.size() || std::isalnum(static_cast<unsigned char>(name[place])) == 0;
        };
        finder_.find(name, [&](WordFinder::Id id, std::size_t end) {
            const std::string_view host = hosts_[id];
            const std::size_t begin = end - host.size();
            if ((begin == 0 || edge(begin - 1)) && edge(end) && host.size() > longest.size()) longest = host;
        });
        return longest;
    }

private:
    static constexpr std::size_t kMost = 20'000;  // a table of some ten megabytes
    std::vector<std::string_view> hosts_;
    WordFinder finder_;
};

void tie_files(Case& found) {
    const std::set<std::string> known = hosts_known(found);
    const HostFinder finder(known);
    for (std::size_t i = 0; i < found.files.size(); ++i) {
        CaseFile& file = found.files[i];
        const auto& said = found.hosts_said[i];
        if (has_no_lines(file)) continue;
        if (!said.empty()) {  // the one that most lines name
            file.host = std::ranges::max_element(said, {}, [](const auto& each) { return each.second; })->first;
            file.host_from = "contents";
            continue;
        }
        // A host that others name may stand anywhere in the name: "dmesg-node-a.txt".
        const std::string_view base = base_name(file.name);
        file.host = finder.in(base);
        const bool note = base.ends_with(".txt") || base.ends_with(".json");
        if (file.host.empty() && !note) file.host = host_in_name(file.name);
        if (!file.host.empty()) file.host_from = "file name";
    }
}

// Two notes that hold readings of one kind ("a.txt", "b.txt") are of two machines, and named after them.
void tie_notes(Case& found) {
    std::map<std::string, std::set<std::uint32_t>> kinds;  // what is read -> files of nobody
    const auto note = [&](const std::string& kind, const Place& place) {
        if (found.files[place.file].host.empty()) kinds[kind].insert(place.file);
    };
    for (const Setting& setting : found.settings)
        if (setting.host.empty() && setting.subject != "environment")
            note(setting.subject + '/' + setting.name, setting.place);
    for (const CounterDump& dump : found.counters)
        if (dump.host.empty() && dump.phase == Phase::unknown) note("counters " + dump.source, dump.place);
    for (const auto& [kind, files] : kinds) {
        if (files.size() < 2) continue;
        std::set<std::string> names, groups;  // two of a group are before and after of one machine
        for (const std::uint32_t file : files) {
            // "a", "node-12": words with more parts tell what a note is about.
            static const RE2 simple(R"(^[A-Za-z]{1,12}[-_]?\d*$)");
            if (std::string host = host_in_name(found.files[file].name); RE2::FullMatch(host, simple))
                names.insert(std::move(host));
            groups.insert(group_of(found.files[file].name));
        }
        if (names.size() != files.size() || groups.size() != files.size()) continue;
        for (const std::uint32_t file : files) {
            found.files[file].host = host_in_name(found.files[file].name);
            found.files[file].host_from = "file name";
        }
    }
}

}  // namespace

void tie_hosts(Case& found) {
    for (const Event& event : found.events)
        if (!event.host.empty()) ++found.hosts_said[event.place.file][event.host];
    tie_files(found);
    tie_notes(found);
    const auto host_of = [&](std::string& host, const Place& place) {
        if (host.empty()) host = found.files[place.file].host;
    };
    for (Event& event : found.events) host_of(event.host, event.place);
    for (CounterDump& dump : found.counters) host_of(dump.host, dump.place);
    for (Setting& setting : found.settings) host_of(setting.host, setting.place);
    for (BlockedTask& task : found.blocked) host_of(task.host, task.place);
    for (Measurement& each : found.measurements) host_of(each.host, each.place);
    // A line of a rank is of the host where the same file says that the rank runs.
    std::map<std::pair<std::uint32_t, std::string>, std::string> rank_hosts;
    for (const Setting& setting : found.settings)
        if (setting.subject == "rank")
            rank_hosts.emplace(std::pair(setting.place.file, "rank " + setting.name), setting.host);
    for (Event& event : found.events)
        if (event.process.starts_with("rank "))
            if (const auto at = rank_hosts.find({event.place.file, event.process}); at != rank_hosts.end())
                event.host = at->second;
    // Peers by address become hosts where the case says whose they are.
    for (Event& event : found.events) {
        const std::string ip = event.peer.substr(0, event.peer.find_first_of("<:"));
        if (const auto at = found.addresses.find(ip); at != found.addresses.end()) event.peer = at->second;
    }
}

}  // namespace qps::casework
