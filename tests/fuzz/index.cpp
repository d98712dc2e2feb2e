// Fuzzer of an open capture: bytes as a file that is indexed; every row of it is read again, every series of it drawn
// up, and filters say of its rows what they say of its packets. Bytes that are compressed go through a spool.
#include <tests/fuzz/followed.hpp>
#include <tests/fuzz/mutators/sealed.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/index/restored_message.hpp>
#include <transport-replay/index/row_fields.hpp>
#include <transport-replay/index/row_filter.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/congestion_series.hpp>
#include <transport-replay/series/ladder_layout.hpp>
#include <transport-replay/series/latency.hpp>
#include <transport-replay/series/outstanding.hpp>
#include <transport-replay/series/psn_series.hpp>
#include <transport-replay/series/pyramid.hpp>
#include <transport-replay/series/throughput.hpp>

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

using namespace qps;
using namespace qps::dissect;
using namespace qps::transport;
using fuzz::demand;

namespace {

constexpr std::uint64_t kMostRows = 64;       // of an input that are judged: each by a hundred filters
constexpr std::size_t kMostConnections = 16;  // whose pictures are drawn

// A file that lies in memory and has a path.
class MemoryFile {
public:
    MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        demand(descriptor_ >= 0 && (size == 0 || ::write(descriptor_, data, size) == static_cast<ssize_t>(size)));
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(descriptor_); }
    [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
    void cut(std::size_t size) const { demand(::ftruncate(descriptor_, static_cast<off_t>(size)) == 0); }

private:
    int descriptor_;
};

// Of each indexed field its presence and a comparison, and some that mix.
std::vector<Filter> make_filters() {
    std::vector<Filter> filters;
    const auto add = [&](const std::string& text) {
        auto filter = Filter::compile(text);
        demand(filter.has_value());
        filters.push_back(std::move(*filter));
    };
    for (const IndexedField& field : row_fields()) {
        const std::string name(field.name);
        add(name);
        if (name == "infiniband.bth") continue;
        add(name + " == 1");
        add("not " + name + " > 0 and ip");
        add("all " + name + " <= 1 xor udp");
    }
    add("infiniband.bth.opcode in {0..10} and not (ip.src == 10.77.0.11 or rdma.psn_missing)");
    return filters;
}

void read_rows(const std::shared_ptr<CaptureIndex>& index) {
    static const std::vector<Filter> filters = make_filters();
    std::vector<RowFilter> judges;
    for (const Filter& filter : filters) judges.emplace_back(index, filter, std::nullopt);
    PacketReader reader(index);
    const std::uint64_t rows = std::min(index->packets.size(), kMostRows);
    for (std::uint64_t number = 1; number <= rows; ++number) {
        const Packet* packet = reader.read(FrameIndex{number});
        if (packet == nullptr) {  // only a spool leaves packets out
            demand(index->files()[index->row(FrameIndex{number}).file()].spooled);
            continue;
        }
        demand(packet->frame.wire_bytes() == index->row(FrameIndex{number}).wire_length() ||
               index->row(FrameIndex{number}).wire_length() == PacketRow::kMaxLength);
        for (std::size_t i = 0; i < judges.size(); ++i) {
            const Verdict verdict = judges[i].judge(FrameIndex{number});
            demand(verdict == Verdict::unknown || (verdict == Verdict::yes) == filters[i].matches(*packet));
        }
    }
}

void restore_messages(const std::shared_ptr<CaptureIndex>& index) {
    PacketReader reader(index);
    for (std::uint64_t at = 0; at < index->messages.size(); ++at) {
        const MessageRow& row = index->messages[at];
        demand(index->has(row.first_frame()) && row.connection() != ConnectionId{});
        Message message = restored(*index, row);
        add_operands(message, reader);
        demand(message.first_frame <= message.last_frame);
    }
}

void draw_ladder(const CaptureIndex& index, const Timeline& timeline, ConnectionId connection) {
    const auto entries = series::LadderEntries::of(index, connection);
    demand(entries.has_value());
    const auto ladder = series::ladder(index, timeline, *entries, 0, entries->size(), {0, entries->size() / 2});
    demand(ladder.has_value());
    // Every packet of the connection that has a time is of an entry.
    for (std::uint64_t number = 1; number <= index.packets.size(); ++number) {
        const PacketRow& row = index.row(FrameIndex{number});
        const bool drawn = row.connection() == connection && !row.has(Mark::timeless);
        demand(entries->entry_of(index, FrameIndex{number}).has_value() == drawn);
    }
    const series::LadderLayout layout(*ladder, {});
    double top = 0;
    for (const auto& line : layout.lines()) {
        demand(top <= line.top && line.top <= line.bottom && line.bottom <= layout.height());
        top = line.top;
    }
    demand(layout.time_at(layout.height() / 2) <= layout.time_at(layout.height()));
}

template <class P> void draw_points(std::vector<P> points, const series::Range& range) {
    const series::Pyramid<P> pyramid(std::move(points));
    std::size_t seen = 0;
    for (const auto& column : pyramid.columns(range, 64)) {
        demand(column.extremes.least <= column.extremes.most && column.count != 0);
        seen += column.count;
    }
    demand(seen <= pyramid.points().size());
    demand(pyramid.marks(range, 64, 3).size() <= pyramid.points().size());
}

void draw(const CaptureIndex& index, const Timeline& timeline) {
    const auto range = series::whole(index);
    if (!range) return;
    const auto through = series::throughput(index, {}, *range);
    demand(through.has_value() && through->total().packets <= index.packets.size());
    std::uint64_t packets = 0;
    for (const auto& bar : through->bars(*range, through->fold_for(range->length(), 50))) packets += bar.amount.packets;
    demand(packets == through->total().packets);
    const auto latencies = series::latencies(index, {});
    demand(latencies.has_value());
    const series::Distributed distributed = series::distribution(*latencies);
    demand(distributed.least <= distributed.median && distributed.median <= distributed.p999 &&
           distributed.p999 <= distributed.most);
    draw_points(*latencies, *range);
    const auto outstanding = series::outstanding(index, timeline, {});
    demand(outstanding.has_value() && (outstanding->empty() || outstanding->bytes.back().y == 0));
    demand(series::congestion_series(index, {}, *range).has_value());
    const std::size_t some = std::min(timeline.connections.size(), kMostConnections);
    for (std::size_t i = 0; i < some; ++i) {
        const Connection& connection = timeline.connections[i];
        for (const End end : {End::a, End::b}) {
            const auto psns = series::psn_series(index, timeline, connection.uid, end);
            demand(psns.has_value());
            for (const auto& mark : psns->marks) draw_points(mark, *range);
        }
        draw_ladder(index, timeline, connection.uid);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const MemoryFile file(data, size);
    const auto index = std::make_shared<CaptureIndex>();
    const Indexed outcome = build_index(*index, {.files = {file.path()}, .jobs = {1}, .spool_folder = "/tmp"}, {});
    demand(index->packets.size() == outcome.timeline.packets);
    read_rows(index);
    restore_messages(index);
    draw(*index, outcome.timeline);
    file.cut(size / 2);  // somebody else has the file as well
    PacketReader reader(index);
    for (std::uint64_t number = 1; number <= std::min(index->packets.size(), kMostRows); ++number)
        static_cast<void>(reader.read(FrameIndex{number}));
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    return qps::fuzz::mutate_capture(data, size, most, seed, 0);
}
