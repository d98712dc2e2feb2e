// Every packet of every connection of the sample captures is in the ladder: as a line or a mark where its message
// stands as one line, as a line where it is expanded.
#include <tests/support/sample_captures.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/ladder_layout.hpp>

#include <set>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

// Packets that have a time, of each connection, in order.
std::vector<std::pair<ConnectionId, std::vector<FrameIndex>>> packets_of(const CaptureIndex& index,
                                                                         const Timeline& timeline) {
    std::vector<std::pair<ConnectionId, std::vector<FrameIndex>>> all;
    for (const Connection& connection : timeline.connections) all.emplace_back(connection.uid, 0);
    for (std::uint64_t at = 0; at < index.packets.size(); ++at) {
        const PacketRow& row = index.packets[at];
        if (!row.connection() || row.has(Mark::timeless)) continue;
        const auto found = std::ranges::lower_bound(all, *row.connection(), {}, &decltype(all)::value_type::first);
        if (found != all.end() && found->first == *row.connection()) found->second.push_back(frame_at(at));
    }
    return all;
}

std::set<FrameIndex> shown(const Ladder& ladder) {
    std::set<FrameIndex> frames;
    for (const LadderLine& line : ladder.lines) frames.insert(line.frame);
    for (const LadderMark& mark : ladder.marks) frames.insert(mark.frame);
    return frames;
}

// Draws windows of entries, collapsed or expanded, and says the first packet that is in none of them.
std::string missing_in(const CaptureIndex& index, const Timeline& timeline, const LadderEntries& entries,
                       const std::vector<FrameIndex>& packets, bool expand) {
    constexpr std::size_t kWindow = 256;
    std::set<FrameIndex> seen;
    std::uint64_t more = 0;
    for (std::size_t first = 0; first < entries.size(); first += kWindow) {
        std::set<std::size_t> expanded;
        for (std::size_t entry = first; expand && entry < first + kWindow; ++entry) expanded.insert(entry);
        const auto drawn = ladder(index, timeline, entries, first, first + kWindow, expanded);
        if (!drawn) return "stopped";
        more += drawn->unmarked;
        for (const LadderLine& line : drawn->lines)
            if (line.label.contains(", only its first ")) ++more;
        seen.merge(shown(*drawn));
    }
    if (more != 0) return {};  // it says that not all are shown
    for (const FrameIndex frame : packets)
        if (!seen.contains(frame)) return std::to_string(std::to_underlying(frame));
    return {};
}

}  // namespace

TEST_CASE("No packet of a connection of the samples is absent from the ladder", "[series][ladder]") {
    std::size_t connections = 0, packets = 0;
    for (const std::string& path : sample_captures()) {
        INFO(path);
        CaptureIndex index;
        Indexing indexing;
        indexing.files = {path};
        const Timeline timeline = build_index(index, indexing, {}).timeline;
        for (const auto& [connection, frames] : packets_of(index, timeline)) {
            INFO("connection " << std::to_underlying(connection));
            const auto entries = LadderEntries::of(index, connection);
            REQUIRE(entries);
            REQUIRE(entries->left_out() == 0);
            for (const FrameIndex frame : frames) {
                const auto entry = entries->entry_of(index, frame);
                REQUIRE(entry);
                REQUIRE(*entry < entries->size());
                REQUIRE(entries->first_frame(*entry) <= frame);
            }
            CHECK(missing_in(index, timeline, *entries, frames, false) == "");
            CHECK(missing_in(index, timeline, *entries, frames, true) == "");
            ++connections;
            packets += frames.size();
        }
    }
    CHECK(connections > 300);
    CHECK(packets > 15'000);
}

TEST_CASE("What ends a connection is an arrow of the ladder, what came behind it a mark", "[series][ladder]") {
    struct Case {
        const char* capture;
        std::uint64_t frame;
        const char* label;
        bool marked = false;  // in one line with its message
    };
    for (const Case& each :
         {Case{"err_rnr/capture.pcap", 25, "RNR NAK"}, Case{"err_bad_rkey/capture.pcap", 14, "WRITE", true},
          Case{"err_no_write_perm/capture.pcap", 12, "WRITE", true},
          Case{"iwarp_terminate/capture.pcapng", 12, "TERMINATE"},
          Case{"ultra_ethernet/capture.pcap", 6, "NACK TRIMMED"},
          Case{"ultra_ethernet/capture.pcap", 20, "NACK NO_PKT_BUFFER"}}) {
        INFO(each.capture << " " << each.frame);
        CaptureIndex index;
        Indexing indexing;
        indexing.files = {(kSampleFolder / each.capture).string()};
        const Timeline timeline = build_index(index, indexing, {}).timeline;
        const FrameIndex frame{each.frame};
        REQUIRE(index.has(frame));
        const auto connection = index.row(frame).connection();
        REQUIRE(connection);
        const auto entries = LadderEntries::of(index, *connection);
        REQUIRE(entries);
        const auto drawn = ladder(index, timeline, *entries, 0, entries->size(), {});
        REQUIRE(drawn);
        // A packet that was under way when a NAK came is one of its message's.
        if (each.marked) CHECK(std::ranges::count(drawn->marks, frame, &LadderMark::frame) == 1);
        const std::set<std::size_t> all{*entries->entry_of(index, frame)};
        const auto opened = ladder(index, timeline, *entries, 0, entries->size(), all);
        REQUIRE(opened);
        const auto& lines = each.marked ? opened->lines : drawn->lines;
        const auto line = std::ranges::find(lines, frame, &LadderLine::frame);
        REQUIRE(line != lines.end());
        INFO(line->label);
        CHECK(line->label.contains(each.label));
        CHECK((line->tone == LadderTone::nak || each.marked));
    }
}
