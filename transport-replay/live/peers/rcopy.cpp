// rcopy, serving: receives files over an rsocket and writes them into a folder of the user's. As rcopy of librdmacm
// speaks.
//
// The client says a header, the server answers with one of the same identifier, command + 0x80; in the client's byte
// order:
//
//    0  1  version, 0        1  1  command: 1 open, 2 close, 3 write        2  2  length, with what follows
//    4  4  open: the mode of the file; of answers an errno, 0 for success   8  8  identifier
//
// open is followed by the name, with zero bytes at its end; write by 8 bytes, how long the file is, and then, behind
// the message, by as many bytes of content. A write is answered when all of it is there.
//
// Every length is a stranger's: a name has at most kMostNameSaid bytes, a file as many as --size says; of the modes
// nothing is used. Names and files as received_file.hpp has them: a plain name in that folder, and no file that is
// there is replaced.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/received_file.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/live/peers/rsocket.hpp>
#include <transport-replay/report/figures.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::size_t kRcopyHeader = 16;
constexpr std::size_t kMostNameSaid = 4096;  // bytes, with zero bytes at its end; PATH_MAX
constexpr std::uint8_t kRcopyAnswer = 0x80;
enum class RcopyCommand : std::uint8_t { open = 1, close = 2, write = 3 };

enum class RcopyStage : std::uint8_t { header, name, length, content, gone };

struct RcopySession {
    Rsocket socket;
    CmPrivateBytes asked{};
    bool big_endian = false;
    std::vector<std::byte> heard;   // of a header, or what belongs to it
    std::vector<std::byte> answer;  // not sent yet
    std::array<std::byte, kRcopyHeader> header{};
    RcopyStage stage = RcopyStage::header;
    std::size_t wanted = kRcopyHeader;  // bytes in heard until it goes on
    std::optional<ReceivedFile> file{};
    std::uint64_t left = 0;  // bytes of content
    std::uint64_t size = 0;
    dissect::Instant began{};
    bool ends = false;  // once the answer is gone
    bool up = false;
};

std::string reason_of(int error) { return std::error_code(error, std::generic_category()).message(); }

class RcopyServer {
public:
    using Session = RcopySession;
    RcopyServer(FileDrop folder, std::uint64_t most) : folder_(std::move(folder)), most_(most) {}

    static std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& session,
                                                       dissect::Bytes said) {
        if (auto wrong = Rsocket::judge(said)) return std::unexpected("it " + *wrong);
        session.asked = CmPrivateBytes(said);
        session.big_endian = Rsocket::is_big_endian(said);
        return Rsocket::needs();
    }
    static verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) {
        auto says = session.socket.prepare(context);
        if (says) session.socket.connect(session.asked.bytes());
        return says;
    }
    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes /*said*/) {
        session.up = true;
        proceed(context, link, session);
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) {
        session.socket.done(context, link, done);
        proceed(context, link, session);
    }
    static bool complete(const Session& session) { return session.stage != RcopyStage::content && !session.file; }
    static void close(const PeerContext& context, const Link& link, Session& session) {
        if (session.file) context.say(about(link, dropped(session)));
        session.socket.close(context);
    }
    static bool again() { return false; }

private:
    void proceed(const PeerContext& context, Link& link, Session& session) {
        if (!session.up) return;
        bool again = true;
        while (again && !link.complaint) {
            again = say(context, link, session);
            // What is answered first is heard first: nothing is kept for a client that does not listen.
            if (session.answer.empty() && !session.ends && !link.complaint && hear(context, link, session))
                again = true;
        }
        if (session.socket.peer_left() && session.socket.writable().empty())
            session.answer.clear();  // it cannot be said any more
        if (session.socket.peer_left() && !complete(session)) link.fail(dropped(session));
        if (session.answer.empty() && (session.ends || session.socket.peer_left())) session.socket.shut();
        session.socket.tend(context, link);
    }
    static bool say(const PeerContext& context, Link& link, Session& session) {
        const dissect::MutableBytes room = session.socket.writable();
        const std::size_t length = std::min(room.size(), session.answer.size());
        if (length == 0) return false;
        std::ranges::copy(std::span(session.answer).first(length), room.begin());
        session.socket.send(context, link, length);
        session.answer.erase(session.answer.begin(), session.answer.begin() + static_cast<std::ptrdiff_t>(length));
        return true;
    }
    // What lies together there; false: nothing does.
    bool hear(const PeerContext& context, Link& link, Session& session) {
        const dissect::Bytes bytes = session.socket.readable();
        if (bytes.empty() || session.stage == RcopyStage::gone) return false;
        if (session.stage == RcopyStage::content) {
            const std::size_t length = std::min<std::uint64_t>(bytes.size(), session.left);
            store(context, link, session, bytes.first(length));
            session.socket.take(length);
            return true;
        }
        const std::size_t length = std::min(bytes.size(), session.wanted - session.heard.size());
        session.heard.insert(session.heard.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
        session.socket.take(length);
        if (session.heard.size() == session.wanted) understand(context, link, session);
        return true;
    }
    template <class T> static T number(const Session& session, dissect::Bytes bytes, std::size_t at) {
        return session.big_endian ? dissect::read_be<T>(bytes, at) : dissect::read_le<T>(bytes, at);
    }
    // What was opened and is not there whole.
    static std::string dropped(Session& session) {
        std::string said =
            session.file ? fmt::format("\"{}\" was not received whole: removed", shown(session)) : "left early";
        session.file.reset();
        return said;
    }
    static std::string shown(const Session& session) { return dissect::printable(session.file->name()); }
    void understand(const PeerContext& context, Link& link, Session& session) {
        switch (session.stage) {
            case RcopyStage::header: return take_header(context, link, session);
            case RcopyStage::name: return open(context, link, session);
            case RcopyStage::length: return begin_content(context, link, session);
            default: return;
        }
    }
    static void expect(Session& session, RcopyStage stage, std::size_t bytes) {
        session.heard.clear();
        session.stage = stage;
        session.wanted = bytes;
    }
    static void answer(Session& session, int error) {
        std::array<std::byte, kRcopyHeader> said = session.header;
        said[1] = static_cast<std::byte>(std::to_integer<unsigned>(said[1]) | kRcopyAnswer);
        const auto put = [&](std::size_t at, std::size_t size, std::uint32_t value) {
            for (std::size_t i = 0; i < size; ++i) {
                const std::size_t shift = 8 * (session.big_endian ? size - 1 - i : i);
                said[at + i] = static_cast<std::byte>(value >> shift);
            }
        };
        put(2, 2, kRcopyHeader);
        put(4, 4, static_cast<std::uint32_t>(error));
        session.answer.assign(said.begin(), said.end());
        expect(session, RcopyStage::header, kRcopyHeader);
    }
    // Says no, and ends the connection: what follows cannot be told from content.
    static void refuse(const PeerContext& context, const Link& link, Session& session, int error,
                       const std::string& why) {
        ++context.counts.failed;
        context.say(about(link, why));
        session.file.reset();
        answer(session, error);
        session.stage = RcopyStage::gone;
        session.ends = true;
    }
    void take_header(const PeerContext& context, Link& link, Session& session) {
        std::ranges::copy(session.heard, session.header.begin());
        const dissect::Bytes header(session.header);
        const std::size_t length = number<std::uint16_t>(session, header, 2);
        if (header[0] != std::byte{0} || length < kRcopyHeader)
            return link.fail(fmt::format("sent an invalid header, version {} and length {}",
                                         std::to_integer<unsigned>(header[0]), length));
        const std::size_t rest = length - kRcopyHeader;
        switch (static_cast<RcopyCommand>(std::to_integer<std::uint8_t>(header[1]))) {
            case RcopyCommand::open:
                if (rest == 0 || rest > kMostNameSaid)
                    return refuse(context, link, session, EINVAL,
                                  fmt::format("announced a name of {}", counted(rest, "byte")));
                return expect(session, RcopyStage::name, rest);
            case RcopyCommand::write:
                if (rest != sizeof(std::uint64_t))
                    return refuse(context, link, session, EINVAL, "sent an invalid write");
                return expect(session, RcopyStage::length, rest);
            case RcopyCommand::close:
                if (rest != 0) return refuse(context, link, session, EINVAL, "sent an invalid close");
                if (session.file) {  // opened, and nothing was written
                    if (const int error = session.file->keep(); error != 0)
                        return refuse(context, link, session, error, reason_of(error));
                    session.file.reset();
                }
                return answer(session, 0);
        }
        refuse(context, link, session, EINVAL,
               fmt::format("sent an unknown command {}", std::to_integer<unsigned>(header[1])));
    }
    void open(const PeerContext& context, Link& link, Session& session) {
        std::string name(session.heard.size(), '\0');
        std::memcpy(name.data(), session.heard.data(), name.size());
        const std::size_t end = name.find('\0');
        if (end == std::string::npos) return refuse(context, link, session, EINVAL, "sent a name without an end");
        name.resize(end);
        const std::string shown = dissect::printable(name);
        if (session.file)
            return refuse(context, link, session, EBUSY,
                          fmt::format("opened \"{}\" before the last file was closed", shown));
        if (!is_plain_name(name))
            return refuse(
                context, link, session, EACCES,
                fmt::format(
                    "refused \"{}\": expected the name of a file, without a path or a dot or dash before it (rcopy FILE HOST:NAME)",
                    shown));
        auto file = folder_.create(name);
        if (!file)
            return refuse(context, link, session, file.error(),
                          fmt::format("cannot create \"{}\": {}", shown, reason_of(file.error())));
        session.file = std::move(*file);
        answer(session, 0);
    }
    void begin_content(const PeerContext& context, Link& link, Session& session) {
        const auto size = number<std::uint64_t>(session, session.heard, 0);
        if (!session.file) return refuse(context, link, session, EINVAL, "sent content without a name");
        const std::string name = shown(session);
        if (size > most_)
            return refuse(
                context, link, session, EFBIG,
                fmt::format("refused \"{}\": {}, at most {} (option -s)", name, counted(size, "byte"), most_));
        session.size = session.left = size;
        session.began = context.now;
        expect(session, RcopyStage::content, 0);
        if (size == 0) store(context, link, session, {});
    }
    void store(const PeerContext& context, Link& link, Session& session, dissect::Bytes bytes) {
        if (const int error = session.file->write(bytes); error != 0)
            return refuse(context, link, session, error,
                          fmt::format("cannot write \"{}\": {}", shown(session), reason_of(error)));
        session.left -= bytes.size();
        context.counts.bytes += bytes.size();
        if (session.left > 0) return;
        if (const int error = session.file->keep(); error != 0)
            return refuse(context, link, session, error,
                          fmt::format("cannot write \"{}\": {}", shown(session), reason_of(error)));
        ++context.counts.messages;
        const auto took = std::to_underlying(context.now - session.began);
        std::string line = fmt::format("\"{}\", {}", shown(session), counted(session.size, "byte"));
        if (took > 0)
            line += fmt::format(" in {}, {}", duration_text(dissect::Duration{took}),
                                rate_text(static_cast<double>(session.size) * 8e9 / static_cast<double>(took)));
        context.say(about(link, line));
        session.file.reset();
        answer(session, 0);
    }

    FileDrop folder_;
    std::uint64_t most_;
};

}  // namespace

Made make_rcopy(const ProgramRequest& request) {
    if (const auto fits = sound(request, 0, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (request.folder.empty()) return std::unexpected("rcopy needs --folder DIR, where received files go");
    auto folder = FileDrop::open(request.folder);
    if (!folder) return std::unexpected(folder.error());
    return Connected<RcopyServer>(RcopyServer(std::move(*folder), request.size.value_or(kMaxTransfer)), request,
                                  kRcopyPort);
}

}  // namespace qps::transport::live::peers
