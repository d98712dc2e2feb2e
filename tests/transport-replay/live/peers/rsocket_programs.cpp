// riostream and rcopy: against clients that do not keep to the rules, and files that a stranger sends.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/received_file.hpp>
#include <transport-replay/live/peers/rsocket.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using qps::tests::kServerAddress;
using qps::tests::ProgramPair;

namespace {

// A folder of its own, gone at the end.
class DropScene {
public:
    DropScene() {
        std::string pattern = (std::filesystem::temp_directory_path() / "qpscope-drop-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
        std::filesystem::create_directory(path_ / "drop");
        std::ofstream(path_ / "outside") << "as it was";
    }
    ~DropScene() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    DropScene(const DropScene&) = delete;
    DropScene& operator=(const DropScene&) = delete;
    [[nodiscard]] std::string folder() const { return (path_ / "drop").string(); }
    [[nodiscard]] std::filesystem::path file(std::string_view name) const { return path_ / "drop" / name; }
    [[nodiscard]] std::string content(std::string_view name) const {
        std::ifstream file(path_ / "drop" / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::string outside() const {
        std::ifstream file(path_ / "outside");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_ / "drop"), {}));
    }
    // Those of a file's own, no longer than a copy may be.
    [[nodiscard]] std::size_t plain_files() const {
        std::size_t count = 0;
        for (const auto& each : std::filesystem::directory_iterator(path_ / "drop"))
            count += each.is_regular_file() && each.file_size() <= 64 ? 1U : 0U;
        return count;
    }

private:
    std::filesystem::path path_;
};

// What a client says on an rsocket: pieces, each once as many answers came as it says.
struct Said {
    std::size_t after = 0;  // answers
    std::string bytes;
};
struct ScriptSession {
    peers::Rsocket socket;
    std::size_t piece = 0;
    std::size_t at = 0;
    std::string heard;
    bool up = false;
};
// A client by hand over an rsocket; what it heard goes into `heard`.
class ScriptClient {
public:
    using Session = ScriptSession;
    ScriptClient(std::vector<Said> script, std::string* heard) : script_(std::move(script)), heard_(heard) {}
    static std::expected<peers::QueueNeeds, std::string> plan(const peers::PeerContext&, Session&, dissect::Bytes) {
        return peers::Rsocket::needs();
    }
    static verbs::Result<CmPrivateBytes> prepare(const peers::PeerContext& context, peers::Link&, Session& session) {
        return session.socket.prepare(context);
    }
    void up(const peers::PeerContext& context, peers::Link& link, Session& session, dissect::Bytes said) {
        if (peers::Rsocket::judge(said)) return link.fail("no rsocket");
        session.socket.connect(said);
        session.up = true;
        proceed(context, link, session);
    }
    void done(const peers::PeerContext& context, peers::Link& link, Session& session, const peers::Done& done) {
        session.socket.done(context, link, done);
        if (session.up) proceed(context, link, session);
    }
    static bool complete(const Session&) { return true; }
    static void close(const peers::PeerContext& context, peers::Link&, Session& session) {
        session.socket.close(context);
    }
    static bool again() { return false; }

private:
    void proceed(const peers::PeerContext& context, peers::Link& link, Session& session) {
        constexpr std::size_t kAnswer = 16;
        for (dissect::Bytes bytes = session.socket.readable(); !bytes.empty(); bytes = session.socket.readable()) {
            for (const std::byte byte : bytes) session.heard += static_cast<char>(byte);
            session.socket.take(bytes.size());
        }
        *heard_ = session.heard;
        while (session.piece < script_.size() && session.heard.size() >= script_[session.piece].after * kAnswer) {
            const std::string& bytes = script_[session.piece].bytes;
            const dissect::MutableBytes room = session.socket.writable();
            const std::size_t length = std::min(room.size(), bytes.size() - session.at);
            if (length == 0 && session.at < bytes.size()) break;
            if (length > 0) {
                std::memcpy(room.data(), bytes.data() + session.at, length);
                session.socket.send(context, link, length);
            }
            session.at += length;
            if (session.at < bytes.size()) continue;
            session.at = 0;
            ++session.piece;
        }
        if (session.piece == script_.size() || session.socket.peer_left()) session.socket.shut();
        session.socket.tend(context, link);
    }

    std::vector<Said> script_;
    std::string* heard_;
};

template <class T> std::string le(T value) {
    std::string bytes;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
    return bytes;
}
std::string header(unsigned command, std::size_t length, std::uint32_t data = 0, unsigned version = 0) {
    return le(static_cast<std::uint8_t>(version)) + le(static_cast<std::uint8_t>(command)) +
           le(static_cast<std::uint16_t>(length)) + le(data) + le(std::uint64_t{7});
}
// As the original: zero bytes up to a multiple of 8, at least one.
std::string opening(const std::string& name) {
    const std::size_t rest = (name.size() + 8) & ~std::size_t{7};
    return header(1, 16 + rest, 0100644) + name + std::string(rest - name.size(), '\0');
}
std::string writing(std::uint64_t size) { return header(3, 24) + le(size); }
std::string closing() { return header(2, 16); }
// Of an answer: its command and its errno.
std::string answers(const std::string& heard) {
    std::string all;
    for (std::size_t at = 0; at + 16 <= heard.size(); at += 16)
        all += fmt::format("{}{:02x}:{}", all.empty() ? "" : " ", static_cast<unsigned char>(heard[at + 1]),
                           static_cast<unsigned char>(heard[at + 4]));
    return all;
}

struct Copied {
    bool through = false;
    std::string answers;
    ProgramCounts counts;
    std::vector<std::string> lines;
    std::size_t left = 0;
    [[nodiscard]] std::string text() const { return fmt::format("{}\n{}", answers, fmt::join(lines, "\n")); }
};
Copied copy(const DropScene& scene, std::vector<Said> script, const ProgramRequest& request = {},
            const qps::tests::PairSettings& settings = {}) {
    ProgramPair pair(settings);
    ProgramRequest serves = request;
    serves.folder = scene.folder();
    serves.clients = 1;
    auto server = find_program("rcopy")->make(serves);
    REQUIRE(server);
    std::string heard;
    Program client = peers::Connected<ScriptClient>(ScriptClient(std::move(script), &heard), {.target = kServerAddress},
                                                    IpPort{7427});
    Copied copied;
    copied.through = pair.run(*server, client);
    copied.answers = answers(heard);
    copied.counts = server->counts();
    copied.lines = server->take_lines();
    copied.left = ProgramPair::queue_pairs(pair.server) + ProgramPair::queue_pairs(pair.client);
    return copied;
}

std::string pattern_of(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
    return bytes;
}

}  // namespace

TEST_CASE("rcopy receives files of every length, over poor links too") {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{1'000'003}})
        for (const double loss : {0.0, 0.02}) {
            INFO(size << " bytes, loss " << loss);
            const DropScene scene;
            const std::string bytes = pattern_of(size);
            const Copied copied =
                copy(scene, {{0, opening("some file")}, {1, writing(size) + bytes}, {2, closing()}, {3, ""}}, {},
                     {.faults = {.loss = loss}, .seed = 3});
            INFO(copied.text());
            CHECK(copied.through);
            CHECK(copied.answers == "81:0 83:0 82:0");
            CHECK(scene.content("some file") == bytes);
            CHECK(scene.files() == 1);
            CHECK(copied.counts.failed == 0);
            CHECK(copied.counts.messages == 1);
            CHECK(copied.counts.bytes == size);
            CHECK(copied.left == 0);
        }
}

TEST_CASE("rcopy receives several files of one client, and takes pieces of any length") {
    const DropScene scene;
    std::string all = opening("a") + writing(3) + "one" + closing() + opening("b") + writing(3) + "two" + closing();
    std::vector<Said> script;
    for (const char c : all) script.push_back({0, std::string(1, c)});
    script.push_back({6, ""});
    const Copied copied = copy(scene, script);
    INFO(copied.text());
    CHECK(copied.answers == "81:0 83:0 82:0 81:0 83:0 82:0");
    CHECK(scene.content("a") == "one");
    CHECK(scene.content("b") == "two");
}

TEST_CASE("rcopy writes nothing outside of its folder, and replaces nothing") {
    DropScene scene;
    std::ofstream(scene.file("there")) << "before";
    std::filesystem::create_symlink("../outside", scene.file("link"));
    std::filesystem::create_directory(scene.file("sub"));
    struct Row {
        std::string name;
        int error;
    };
    for (const Row& row :
         {Row{"/tmp/x", EACCES}, Row{"../outside", EACCES}, Row{"..", EACCES}, Row{".", EACCES}, Row{"", EACCES},
          Row{"sub/x", EACCES}, Row{"a\nb", EACCES}, Row{"a\x1b[2J", EACCES}, Row{".bash_profile", EACCES},
          Row{".x", EACCES}, Row{"-rf", EACCES}, Row{"-", EACCES}, Row{std::string(256, 'n'), EACCES},
          Row{"there", EEXIST}, Row{"link", EEXIST}, Row{"sub", EEXIST}}) {
        INFO(row.name);
        const Copied copied = copy(scene, {{0, opening(row.name)}, {1, writing(4) + "evil"}, {2, ""}});
        INFO(copied.text());
        CHECK(copied.through);
        CHECK(copied.answers == fmt::format("81:{}", row.error));
        CHECK(copied.counts.failed == 1);
        CHECK(copied.counts.messages == 0);
        CHECK(copied.left == 0);
        for (const std::string& line : copied.lines)
            CHECK(std::ranges::none_of(line, [](char c) { return c == '\n' || c == '\x1b'; }));
    }
    CHECK(scene.outside() == "as it was");
    CHECK(scene.content("there") == "before");
    CHECK(scene.files() == 3);
}

TEST_CASE("what a client of rcopy says wrong ends its connection, and leaves no file") {
    struct Row {
        std::vector<Said> script;
        std::string_view answers;
    };
    const std::string text = "content";
    const std::vector<Row> rows{
        {{{0, header(1, 24, 0, 1) + std::string(8, 'n')}}, ""},                          // version 1
        {{{0, header(1, 15)}}, ""},                                                      // shorter than itself
        {{{0, header(1, 16)}}, "81:22"},                                                 // no name
        {{{0, header(1, 65'535)}}, "81:22"},                                             // a long one
        {{{0, header(1, 24) + std::string(8, 'n')}}, "81:22"},                           // without an end
        {{{0, writing(5)}}, "83:22"},                                                    // before open
        {{{0, header(9, 16)}}, "89:22"},                                                 // unknown
        {{{0, opening("f")}, {1, header(3, 16)}}, "81:0 83:22"},                         // no length
        {{{0, opening("f")}, {1, opening("g")}}, "81:0 81:16"},                          // two at a time
        {{{0, opening("f")}, {1, writing(101) + std::string(101, 'x')}}, "81:0 83:27"},  // longer than --size
        {{{0, opening("f")}, {1, writing(~std::uint64_t{0})}}, "81:0 83:27"},
        {{{0, opening("f")}, {1, writing(100) + text}}, "81:0"},  // it leaves in the middle
        {{{0, opening("f")}}, "81:0"},
    };
    for (const Row& row : rows) {
        const DropScene scene;
        std::vector<Said> script = row.script;
        script.push_back({static_cast<std::size_t>(std::ranges::count(row.answers, ':')), ""});
        const Copied copied = copy(scene, script, {.size = 100});
        INFO(copied.text());
        CHECK(copied.through);
        CHECK(copied.answers == row.answers);
        CHECK(copied.counts.failed == 1);
        CHECK(copied.counts.messages == 0);
        CHECK(scene.files() == 0);
        CHECK(copied.left == 0);
    }
}

TEST_CASE("rcopy survives any bytes, and writes nothing outside of its folder") {
    std::mt19937 dice(5);
    std::uint64_t refused = 0;
    for (int round = 0; round < 150; ++round) {
        const DropScene scene;
        std::string all = opening("file") + writing(40) + std::string(40, 'c') + closing();
        for (std::size_t i = dice() % 5; i > 0; --i) {
            const std::size_t at = dice() % all.size();
            switch (dice() % 4) {
                case 0: all[at] = static_cast<char>(dice()); break;
                case 1: all.resize(at + 1); break;
                case 2: all.insert(at, std::string(dice() % 30, static_cast<char>(dice()))); break;
                default: all.insert(at, all.substr(at / 2)); break;
            }
        }
        const Copied copied = copy(scene, {{0, all}}, {.size = 64});
        INFO(round << "\n" << copied.text());
        CHECK(copied.through);
        CHECK(copied.left == 0);
        CHECK(scene.outside() == "as it was");
        CHECK(scene.files() == scene.plain_files());
        CHECK(copied.counts.bytes <= 64 * (copied.counts.messages + 1));
        refused += copied.counts.failed;
    }
    CHECK(refused > 20);
}

TEST_CASE("rcopy is refused a folder that is none") {
    const auto refused = [](const std::string& folder) {
        const auto made = find_program("rcopy")->make({.folder = folder});
        return made ? std::string("made") : made.error();
    };
    CHECK(refused("") == "rcopy needs --folder DIR, where received files go");
    CHECK(refused("/no/such/folder") == "/no/such/folder: No such file or directory");
    CHECK(refused("/dev/null") == "/dev/null: Not a directory");
}

TEST_CASE("a received file is removed only where it is still the one that was made") {
    const DropScene scene;
    const auto folder = peers::FileDrop::open(scene.folder());
    REQUIRE(folder);
    {
        auto file = folder->create("f");
        REQUIRE(file);
        CHECK(file->write(std::as_bytes(std::span(std::string_view("abc")))) == 0);
        CHECK(scene.files() == 1);
        CHECK(folder->create("f").error() == EEXIST);
    }
    CHECK(scene.files() == 0);
    {
        auto file = folder->create("f");
        REQUIRE(file);
        std::filesystem::remove(scene.file("f"));
        std::ofstream(scene.file("f")) << "another's";
    }
    CHECK(scene.content("f") == "another's");
}

TEST_CASE("riostream says who maps no memory, too much of it, or elsewhere") {
    ProgramPair pair({});
    auto server = find_program("riostream")->make({});
    REQUIRE(server);
    REQUIRE(server->begin(pair.server, pair.now));
    verbs::Adapter& adapter = pair.client.adapter();
    std::vector<std::byte> memory(4096);
    const auto pd = *adapter.alloc_pd();
    const auto mr = *adapter.reg_mr(pd, memory, verbs::kEveryAccess);
    const auto cq = *adapter.create_cq(1024);
    std::array<std::byte, 40> theirs{};
    std::optional<ConnectionEventKind> last;
    const auto turns = [&](ConnectionEventKind wanted) {
        last.reset();
        for (int i = 0; i < 20'000; ++i) {
            (void)pair.turn(&*server, nullptr);
            for (const ConnectionEvent& event : pair.client.connections().take_events()) {
                if (event.kind == ConnectionEventKind::established &&
                    event.private_data.bytes().size() >= theirs.size())
                    std::ranges::copy(event.private_data.bytes().first(theirs.size()), theirs.begin());
                if (event.kind == wanted) last = event.kind;
            }
            if (last) return true;
        }
        return false;
    };
    const auto connect = [&](std::uint8_t flags, std::uint8_t maps, ConnectionEventKind wanted) {
        const dissect::Qpn qp = *adapter.create_qp({.pd = pd, .send_cq = cq, .recv_cq = cq});
        REQUIRE(adapter.modify_qp(
            qp, {.qp_state = verbs::QpState::init, .pkey = kDefaultPkey, .access = verbs::kEveryAccess}));
        for (std::uint64_t i = 0; i < 16; ++i) REQUIRE(adapter.post_recv(qp, {.wr_id = i}));
        std::array<std::byte, 40> said{};
        const dissect::MutableBytes bytes(said);
        peers::write_be(bytes, 0, std::uint8_t{1});
        peers::write_be(bytes, 1, flags);
        peers::write_be(bytes, 2, std::uint16_t{10});
        peers::write_be(bytes, 7, maps);
        peers::write_be(bytes, 8, mr.address);
        peers::write_be(bytes, 16, static_cast<std::uint32_t>(mr.rkey));
        peers::write_be(bytes, 20, std::uint32_t{2});
        peers::write_be(bytes, 24, mr.address);
        peers::write_be(bytes, 32, static_cast<std::uint32_t>(mr.rkey));
        peers::write_be(bytes, 36, std::uint32_t{4096});
        ConnectOptions options;
        options.private_data = said;
        REQUIRE(pair.client.connections().connect(qp, {.address = kServerAddress, .port = IpPort{7471}}, options,
                                                  pair.now));
        REQUIRE(turns(wanted));
        return qp;
    };
    (void)connect(0, 0, ConnectionEventKind::rejected);
    CHECK(server->take_lines().at(0) == "192.0.2.2: refused: it lets nobody map memory (riomap)");
    struct Row {
        std::uint64_t offset;
        std::uint32_t length;
        std::uint32_t imm;
        std::uint32_t bytes;
        std::string_view line;
    };
    for (const Row& row :
         {Row{0, 0, 0xc000'0000, 24, "192.0.2.2: maps 0 bytes at offset 0"},
          Row{0, (1U << 24) + 1, 0xc000'0000, 24, "192.0.2.2: maps 16,777,217 bytes at offset 0"},
          Row{8, 100, 0xc000'0000, 24, "192.0.2.2: maps 100 bytes at offset 8"},
          Row{0, 100, 0xc000'0001, 24, "192.0.2.2: sent an invalid entry of the I/O map (0xc0000001, 24 bytes)"},
          Row{0, 100, 0xc000'0000, 16, "192.0.2.2: sent an invalid entry of the I/O map (0xc0000000, 16 bytes)"}}) {
        INFO(row.line);
        const dissect::Qpn qp = connect(2, 1, ConnectionEventKind::established);
        const auto put = [&](std::size_t at, std::size_t size, std::uint64_t value) {
            for (std::size_t i = 0; i < size; ++i) memory[at + i] = static_cast<std::byte>(value >> (8 * i));
        };
        put(0, 8, row.offset);
        put(8, 8, mr.address);
        put(16, 4, static_cast<std::uint32_t>(mr.rkey));
        put(20, 4, row.length);
        const verbs::Sge piece{.address = mr.address, .length = row.bytes, .lkey = mr.lkey};
        const verbs::Remote to{dissect::read_be<std::uint64_t>(theirs, 8) + 32,
                               dissect::Rkey{dissect::read_be<std::uint32_t>(theirs, 16)}};
        REQUIRE(adapter.post_send(qp, {.sg_list = {&piece, 1},
                                       .opcode = verbs::WrOpcode::rdma_write_with_imm,
                                       .send_flags = {.signaled = true},
                                       .imm_data = row.imm,
                                       .remote = to}));
        CHECK(turns(ConnectionEventKind::disconnected));
        const auto lines = server->take_lines();
        CHECK(std::ranges::any_of(lines, [&](const std::string& line) { return line == row.line; }));
        INFO(fmt::format("{}", fmt::join(lines, "\n")));
        (void)adapter.destroy_qp(qp);
    }
    for (int i = 0; i < 2000; ++i) (void)pair.turn(&*server, nullptr);
    CHECK(ProgramPair::queue_pairs(pair.server) == 0);
    (void)adapter.dereg_mr(mr.lkey);
}
