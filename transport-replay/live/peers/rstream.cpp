// rstream: a stream there and as much back, in transfers, over an rsocket. As rstream of librdmacm speaks.
//
// 16 bytes go there and back; then a test is so many times: `transfers` of `size` bytes there, and as many back. Told a size or a
// number of transfers, the client does one test; told nothing, the series of the original: first one transfer at a time
// (latency), then, on another connection, many in a row (bandwidth). Our server need not be told: it owes as many bytes
// as came. Bytes count up by one, through all transfers and connections of a client, as those of `rstream -T v` do.
//
// An original without -T v sends again what it received last, so each transfer that comes back counts up from where
// it stands, or from where the last one that we sent began. What a server is sent is judged only where its first 16 bytes count.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/live/peers/rsocket.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kSync = 16;  // bytes
constexpr std::uint32_t kDefaultSize = 1000;
constexpr std::uint32_t kDefaultTransfers = 1000;

void count_up(dissect::MutableBytes into, std::uint8_t from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<std::byte>(from + i);
}
bool counts_up(dissect::Bytes bytes, std::uint8_t from) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != static_cast<std::byte>(from + i)) return false;
    return true;
}

struct ServedStream {
    Rsocket socket;
    CmPrivateBytes asked{};
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::uint8_t first = 0;  // the first byte: both directions stand at the same number
    bool counts = true;
    bool up = false;
};

class StreamServer {
public:
    using Talk = ServedStream;
    explicit StreamServer(const ProgramRequest& request) : verify_(request.verify) {}

    static std::expected<QueueNeeds, std::string> plan(const Desk& /*desk*/, Talk& talk, dissect::Bytes said) {
        if (auto wrong = Rsocket::judge(said)) return std::unexpected("it " + *wrong);
        talk.asked = CmPrivateBytes(said);
        return Rsocket::needs();
    }
    static verbs::Result<CmPrivateBytes> prepare(const Desk& desk, Link& /*link*/, Talk& talk) {
        auto says = talk.socket.prepare(desk);
        if (says) talk.socket.connect(talk.asked.bytes());
        return says;
    }
    static void up(const Desk& desk, Link& link, Talk& talk, dissect::Bytes /*said*/) {
        talk.up = true;
        talk.socket.tend(desk, link);
    }
    void done(const Desk& desk, Link& link, Talk& talk, const Done& done) const {
        talk.socket.done(desk, link, done);
        for (dissect::Bytes bytes = talk.socket.readable(); !bytes.empty() && !link.complaint; bytes = talk.socket.readable()) {
            look_at(desk, link, talk, bytes);
            talk.socket.take(bytes.size());
        }
        while (talk.sent < talk.received && !link.complaint) {
            const dissect::MutableBytes room = talk.socket.writable();
            const std::size_t length = std::min<std::uint64_t>(room.size(), talk.received - talk.sent);
            if (length == 0) break;
            count_up(room.first(length), static_cast<std::uint8_t>(talk.first + talk.sent));
            talk.socket.send(desk, link, length);
            talk.sent += length;
        }
        if (talk.socket.peer_left() && talk.sent == talk.received) talk.socket.shut();
        talk.socket.tend(desk, link);
    }
    static bool complete(const Talk& talk) { return talk.sent == talk.received; }
    static void close(const Desk& desk, const Link& link, Talk& talk) {
        if (talk.up) desk.say(about(link, fmt::format("{} received, {} returned", bytes_text(talk.received), bytes_text(talk.sent))));
        talk.socket.close(desk);
    }
    static bool again() { return false; }

private:
    void look_at(const Desk& desk, const Link& link, Talk& talk, dissect::Bytes bytes) const {
        if (talk.received == 0) talk.first = static_cast<std::uint8_t>(bytes[0]);
        const bool right = counts_up(bytes, static_cast<std::uint8_t>(talk.first + talk.received));
        if (!right && talk.received < kSync) talk.counts = false;  // it sends anything
        if (!right && talk.counts && verify_) {
            ++desk.counts.wrong;
            desk.say(about(link, fmt::format("data after {} was corrupted", counted(talk.received, "byte"))));
            talk.counts = false;
        }
        talk.received += bytes.size();
        ++desk.counts.messages;
        desk.counts.bytes += bytes.size();
    }

    bool verify_;
};

struct Test {
    std::uint64_t iterations = 1;
    std::uint64_t transfers = 1;
    std::uint64_t size = 0;  // bytes of a transfer
};
enum class Stage : std::uint8_t { sync_out, sync_in, out, in, over };

struct StreamTalk {
    Rsocket socket;
    std::size_t test = 0;  // of those of the connection
    Stage stage = Stage::sync_out;
    std::uint64_t iteration = 0;
    std::uint64_t moved = 0;         // bytes of the stage
    std::uint8_t transfer_from = 0;  // the first byte of the transfer that comes
    dissect::Instant began{};
    bool up = false;
};

class StreamClient {
public:
    using Talk = StreamTalk;
    explicit StreamClient(const ProgramRequest& request) : verify_(request.verify) {
        if (request.size || request.count) {
            runs_ = {{{.transfers = request.count.value_or(kDefaultTransfers), .size = request.size.value_or(kDefaultSize)}}};
            return;
        }
        struct Row {
            std::uint64_t size, times;
        };
        constexpr std::array kSeries{Row{1U << 6, 100'000}, Row{1U << 12, 10'000}, Row{1U << 16, 1000}, Row{1U << 20, 100}};
        runs_.resize(2);
        for (const Row& row : kSeries) {
            runs_[0].push_back({.iterations = row.times, .size = row.size});
            runs_[1].push_back({.transfers = row.times, .size = row.size});
        }
    }

    static std::expected<QueueNeeds, std::string> plan(const Desk& /*desk*/, Talk& /*talk*/, dissect::Bytes /*said*/) {
        return Rsocket::needs();
    }
    static verbs::Result<CmPrivateBytes> prepare(const Desk& desk, Link& /*link*/, Talk& talk) { return talk.socket.prepare(desk); }
    void up(const Desk& desk, Link& link, Talk& talk, dissect::Bytes said) {
        if (const auto wrong = Rsocket::judge(said)) {
            link.fail(*wrong);
            return;
        }
        talk.up = true;
        talk.socket.connect(said);
        proceed(desk, link, talk);
    }
    void done(const Desk& desk, Link& link, Talk& talk, const Done& done) {
        talk.socket.done(desk, link, done);
        if (!link.complaint) proceed(desk, link, talk);
    }
    static bool complete(const Talk& talk) { return talk.stage == Stage::over; }
    static void close(const Desk& desk, const Link& /*link*/, Talk& talk) { talk.socket.close(desk); }
    bool again() { return ++run_ < runs_.size(); }

private:
    [[nodiscard]] const Test& test(const Talk& talk) const { return runs_[run_][talk.test]; }
    // Bytes of a transfer of the stage, and of the stage.
    [[nodiscard]] std::uint64_t unit(const Talk& talk) const {
        return talk.stage == Stage::sync_out || talk.stage == Stage::sync_in ? kSync : test(talk).size;
    }
    [[nodiscard]] std::uint64_t whole(const Talk& talk) const {
        return talk.stage == Stage::sync_out || talk.stage == Stage::sync_in ? kSync : test(talk).size * test(talk).transfers;
    }
    void proceed(const Desk& desk, Link& link, Talk& talk) {
        while (talk.stage != Stage::over && !link.complaint) {
            const bool out = talk.stage == Stage::sync_out || talk.stage == Stage::out;
            const std::uint64_t moved = out ? send(desk, link, talk) : take(desk, link, talk);
            talk.moved += moved;
            if (talk.moved == whole(talk)) {
                next_stage(desk, link, talk);
            } else if (moved == 0) {
                break;
            }
        }
        if (talk.stage == Stage::over) talk.socket.shut();
        talk.socket.tend(desk, link);
    }
    std::uint64_t send(const Desk& desk, Link& link, Talk& talk) {
        const dissect::MutableBytes room = talk.socket.writable();
        const std::size_t length = std::min<std::uint64_t>(room.size(), whole(talk) - talk.moved);
        if (length == 0) return 0;
        count_up(room.first(length), static_cast<std::uint8_t>(sent_));
        sent_ += length;
        talk.socket.send(desk, link, length);
        return length;
    }
    std::uint64_t take(const Desk& desk, const Link& link, Talk& talk) {
        const std::uint64_t into_transfer = talk.moved % unit(talk);
        const std::uint64_t left = unit(talk) - into_transfer;
        const dissect::Bytes bytes = dissect::slice(talk.socket.readable(), 0, left);
        if (bytes.empty()) return 0;
        const auto should = static_cast<std::uint8_t>(received_);
        const auto last_sent = static_cast<std::uint8_t>(sent_ - unit(talk));
        const auto first = static_cast<std::uint8_t>(bytes[0]);
        if (into_transfer == 0) talk.transfer_from = first == last_sent ? last_sent : should;
        if (verify_ && !counts_up(bytes, static_cast<std::uint8_t>(talk.transfer_from + into_transfer))) {
            ++desk.counts.wrong;
            if (desk.counts.wrong == 1)
                desk.say(about(link, fmt::format("data after {} was corrupted", counted(received_, "byte"))));
        }
        received_ += bytes.size();
        desk.counts.bytes += bytes.size();
        const std::size_t taken = bytes.size();
        talk.socket.take(taken);
        return taken;
    }
    void next_stage(const Desk& desk, const Link& link, Talk& talk) {
        talk.moved = 0;
        if (talk.stage == Stage::sync_out || talk.stage == Stage::out) {
            talk.stage = talk.stage == Stage::out ? Stage::in : Stage::sync_in;
            return;
        }
        if (talk.stage == Stage::sync_in) {
            talk.began = desk.now;
            talk.iteration = 0;
        } else {
            desk.counts.messages += test(talk).transfers;
            ++talk.iteration;
        }
        talk.stage = Stage::out;
        if (talk.iteration < test(talk).iterations) return;
        report(desk, link, talk);
        talk.stage = ++talk.test < runs_[run_].size() ? Stage::sync_out : Stage::over;
    }
    void report(const Desk& desk, const Link& link, const Talk& talk) const {
        const Test& done = test(talk);
        const std::int64_t took = static_cast<std::int64_t>(desk.now) - static_cast<std::int64_t>(talk.began);
        const std::uint64_t transfers = done.iterations * done.transfers * 2;
        std::string line = fmt::format("{} of {}", counted(transfers, "transfer"), counted(done.size, "byte"));
        if (took > 0)
            line += fmt::format(" in {}, {}, {} each", duration_text(dissect::Duration{took}),
                                rate_text(static_cast<double>(transfers * done.size) * 8e9 / static_cast<double>(took)),
                                duration_text(dissect::Duration{took / static_cast<std::int64_t>(transfers)}));
        desk.say(about(link, line));
    }

    bool verify_;
    std::vector<std::vector<Test>> runs_;  // a connection each
    std::size_t run_ = 0;
    std::uint64_t sent_ = 0;  // bytes, over all connections
    std::uint64_t received_ = 0;
};

}  // namespace

Made make_rstream(const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (!request.target) return Connected<StreamServer>(StreamServer(request), request, kRdmaCmPort);
    if (request.connections != 1) return std::unexpected("rstream uses one connection");
    if (request.count && *request.count == 0) return std::unexpected("invalid count 0: expected at least 1");
    return Connected<StreamClient>(StreamClient(request), request, kRdmaCmPort);
}

}  // namespace qps::transport::live::peers
