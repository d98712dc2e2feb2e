// Who may use an agent: the secret and its proof, strangers at the door, clients that say nothing or read nothing.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/conformance/agent/agent_connection.hpp>
#include <transport-replay/conformance/agent/agent_program.hpp>
#include <transport-replay/conformance/agent/door.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace qps::transport::conformance::agent;
using namespace qps::transport::live;
using qps::test::TemporaryFolder;
using qps::transport::microseconds;

namespace {

const std::string kSecret = "0123456789abcdef0123456789abcdef";

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char each : bytes) text_of::append_hex(text, static_cast<unsigned char>(each));
    return text;
}

// An agent at 127.0.0.1, its clock by hand.
class Served {
public:
    explicit Served(const std::string& secret = {}) : port(ExchangeListener::open("127.0.0.1", 0)->port()) {
        program.emplace(
            *agent_program().make({.port = IpPort{port}, .exchange = {.tcp = "127.0.0.1"}, .secret = secret}));
        REQUIRE(program->begin(pair.server, pair.now));
    }
    void turn() {
        pair.server.poll(pair.now);
        program->poll(pair.server, pair.now);
    }
    void pass(int seconds) {
        pair.now = pair.now + microseconds(std::int64_t{seconds} * 1'000'000);
        turn();
    }
    [[nodiscard]] AgentConnection connect(const std::string& secret = {}) const {
        auto agent = AgentConnection::connect("127.0.0.1", port, secret);
        REQUIRE(agent);
        return std::move(*agent);
    }
    // Nothing: the connection ended before.
    std::optional<ParsedAnswer> ask(AgentConnection& agent, const Request& request) {
        const std::uint32_t sequence = agent.client().ask(request);
        for (int turns = 0; turns < 1000; ++turns) {
            agent.drive();
            turn();
            if (auto answer = agent.client().take_answer(sequence)) return answer;
            if (agent.finished()) return std::nullopt;
            if (turns > 100) usleep(1000);
        }
        return std::nullopt;
    }
    [[nodiscard]] std::uint64_t clients() const { return program->counts().connections; }

    qps::tests::ProgramPair pair{{}};
    std::uint16_t port;
    std::optional<Program> program;
};

// A stranger's socket, which says what the test says.
class Stranger {
public:
    explicit Stranger(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    }
    // As much as the socket takes.
    std::size_t say(std::string_view text) const {
        const ssize_t sent = send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return sent < 0 ? 0 : static_cast<std::size_t>(sent);
    }
    [[nodiscard]] std::string hear() const {
        std::string text(65'536, '\0');
        const ssize_t got = recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
        text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return text;
    }
    [[nodiscard]] bool closed() const {
        char one = 0;
        const ssize_t got = recv(socket_.get(), &one, 1, MSG_DONTWAIT | MSG_PEEK);
        return got == 0 || (got < 0 && errno != EAGAIN);
    }

private:
    OwnedDescriptor socket_;
};

}  // namespace

TEST_CASE("a proof is the HMAC-SHA256 of who proves and both nonces") {
    // Computed by Python's hmac.
    const std::string a(32, 'A');
    const std::string c(32, 'C');
    CHECK(hex(proof_of(kSecret, Prover::client, a, c)) ==
          "1dbe102ba130a062520fabe9ec073bec5db8cfd4263957059af4ff2c38290f4e");
    CHECK(hex(proof_of(kSecret, Prover::agent, a, c)) ==
          "2e6a865a86fcc9a1b4c09980e8ade0c5bebd7e88b7093c6b7052c9596e8857d2");
    CHECK(same_proof(a, a));
    CHECK_FALSE(same_proof(a, c));
    CHECK_FALSE(same_proof({}, {}));
    const std::string drawn = draw_nonce();
    CHECK(drawn.size() == kNonceBytes);
    CHECK(drawn != draw_nonce());
}

TEST_CASE("a secret is the first line of a file that nobody else can read") {
    const TemporaryFolder folder;
    const auto write = [&](std::string_view name, std::string_view text, mode_t mode) {
        const std::string path = folder.write(name, std::as_bytes(std::span(text)));
        REQUIRE(chmod(path.c_str(), mode) == 0);
        return path;
    };
    std::string why;
    CHECK(read_secret(write("good", kSecret + "\nwhat follows", 0600), why) == kSecret);
    CHECK(read_secret(write("dos", kSecret + "\r\n", 0400), why) == kSecret);
    CHECK(why.empty());
    CHECK_FALSE(read_secret(write("open", kSecret, 0640), why));
    CHECK_THAT(why, Catch::Matchers::Contains("chmod 600"));
    CHECK_FALSE(read_secret(write("short", "fifteen bytes..\n", 0600), why));
    CHECK_THAT(why, Catch::Matchers::Contains("15 bytes"));
    CHECK_FALSE(read_secret(write("long", std::string(kMostSecret + 1, 'x'), 0600), why));
    CHECK_FALSE(read_secret(folder.file("missing"), why));
    CHECK_FALSE(read_secret(folder.fifo("fifo"), why));
    CHECK_FALSE(read_secret(folder.path(), why));
}

TEST_CASE("loopback is what only this machine reaches") {
    for (const char* own : {"127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.1"}) CHECK(is_loopback(own));
    for (const char* other : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "::2", "::ffff:10.0.0.1", "localhost", ""})
        CHECK_FALSE(is_loopback(other));
}

TEST_CASE("an agent that other machines reach needs a secret, or the word that it needs none") {
    const auto makes = [](const std::string& tcp, const std::string& secret, bool insecure) {
        return agent_program().make({.exchange = {.tcp = tcp}, .secret = secret, .insecure = insecure}).has_value();
    };
    CHECK(makes("", "", false));
    CHECK(makes("127.0.0.2", "", false));
    CHECK(makes("::1", "", false));
    for (const char* reached : {"0.0.0.0", "::", "10.0.0.1"}) {
        CHECK_FALSE(makes(reached, "", false));
        CHECK(makes(reached, kSecret, false));
        CHECK(makes(reached, "", true));
    }
}

TEST_CASE("an agent with a secret serves those who know it, and nobody else") {
    Served served(kSecret);
    auto right = served.connect(kSecret);
    CHECK(served.ask(right, {Verb::hello, {}})->ok);
    CHECK(served.ask(right, {Verb::ping, {}})->ok);
    CHECK(served.ask(right, {Verb::quit, {}})->ok);
    auto wrong = served.connect(kSecret + "x");
    CHECK_FALSE(served.ask(wrong, {Verb::hello, {}}));
    CHECK_THAT(wrong.problem(), Catch::Matchers::Contains("the secrets differ"));
    auto none = served.connect();
    const auto refused = served.ask(none, {Verb::hello, {}});
    REQUIRE(refused);
    CHECK(refused->error == "EACCES");
    CHECK(served.clients() == 1);
}

TEST_CASE("a client that has a secret serves no agent that has none, or another one") {
    Served served;
    auto client = served.connect(kSecret);
    CHECK_FALSE(served.ask(client, {Verb::hello, {}}));
    CHECK_THAT(client.problem(), Catch::Matchers::Contains("asks for no secret"));

    AgentClient cheated;
    cheated.prove(kSecret);
    const std::uint32_t hello = cheated.ask({Verb::hello, {}});
    CHECK(hello != 0);
    const auto hear = [&](const std::string& line) { cheated.process(std::as_bytes(std::span(line))); };
    hear(write_answer(1, Fields{}.add(Key::nonce, std::string_view(std::string(32, 'A')))));
    hear(write_answer(3, Fields{}.add(Key::proof, std::string_view(std::string(32, 'P')))));
    CHECK(cheated.problem() == "the agent does not know the secret");
    const auto said = cheated.take_output();
    CHECK_FALSE(std::string(reinterpret_cast<const char*>(said.data()), said.size()).contains("hello"));
}

TEST_CASE("a door has one try, whatever a stranger says") {
    const std::string nonce = hex(std::string(32, 'C'));
    for (const std::string& line : {std::string("1 hello"), std::string("1 reset"), std::string("nonsense"),
                                    "1 prove nonce=" + nonce + " proof=" + nonce}) {
        Door door(kSecret);
        CHECK_THAT(door.answer(line), Catch::Matchers::Contains("error EACCES"));
        CHECK(door.refused());
        CHECK_FALSE(door.open());
    }
    Door door(kSecret);
    CHECK(door.answer("1 challenge").starts_with("1 ok nonce="));
    CHECK_FALSE(door.open());
    SECTION("a second challenge") { CHECK_THAT(door.answer("2 challenge"), Catch::Matchers::Contains("EACCES")); }
    SECTION("a wrong proof") {
        CHECK_THAT(door.answer("2 prove nonce=" + nonce + " proof=" + nonce), Catch::Matchers::Contains("differ"));
    }
    CHECK(door.refused());
    // The right proof comes too late.
    const std::string proof = hex(proof_of(kSecret, Prover::client, std::string(32, 'A'), std::string(32, 'C')));
    CHECK_THAT(door.answer("3 prove nonce=" + nonce + " proof=" + proof), Catch::Matchers::Contains("EACCES"));
    CHECK_FALSE(door.open());
}

TEST_CASE("a proof that was overheard is worth nothing on another connection") {
    std::string proof;
    {
        Door door(kSecret);
        const std::string challenge = door.answer("1 challenge");
        const ParsedAnswer parsed = parse_answer(Verb::challenge, challenge);
        proof = hex(proof_of(kSecret, Prover::client, parsed.fields.text(Key::nonce), std::string(32, 'C')));
        CHECK_THAT(door.answer("2 prove nonce=" + hex(std::string(32, 'C')) + " proof=" + proof),
                   Catch::Matchers::StartsWith("2 ok"));
        CHECK(door.open());
    }
    Door other(kSecret);
    static_cast<void>(other.answer("1 challenge"));
    CHECK_THAT(other.answer("2 prove nonce=" + hex(std::string(32, 'C')) + " proof=" + proof),
               Catch::Matchers::Contains("differ"));
    CHECK_FALSE(other.open());
}

TEST_CASE("who connects and says nothing holds no place, and is let go") {
    Served served;
    std::vector<Stranger> silent;
    for (std::size_t i = 0; i < kMostAtDoor + 4; ++i) {
        silent.emplace_back(served.port);
        served.turn();
    }
    CHECK(silent.front().closed());  // more than there is room for
    CHECK_FALSE(silent.back().closed());
    auto client = served.connect();
    CHECK(served.ask(client, {Verb::ping, {}})->ok);
    served.pass(kPatienceAtDoor);
    for (const Stranger& each : silent) CHECK(each.closed());
    CHECK(served.ask(client, {Verb::ping, {}})->ok);
    CHECK(served.clients() == 1);
}

TEST_CASE("a silent client loses its place to one that asks, and at last to nobody") {
    Served served;
    auto first = served.connect();
    CHECK(served.ask(first, {Verb::qp, {}})->ok);
    auto refused = served.connect();
    CHECK_FALSE(served.ask(refused, {Verb::ping, {}}));
    CHECK_THAT(refused.problem(), Catch::Matchers::Contains("EBUSY"));
    CHECK(qps::tests::ProgramPair::queue_pairs(served.pair.server) == 1);

    served.pass(kIdleIfWanted);
    CHECK(served.ask(first, {Verb::ping, {}})->ok);  // nobody wanted it
    served.pass(kIdleIfWanted);
    auto second = served.connect();
    CHECK(served.ask(second, {Verb::ping, {}})->ok);
    CHECK(qps::tests::ProgramPair::queue_pairs(served.pair.server) == 0);
    CHECK_FALSE(served.ask(first, {Verb::ping, {}}));
    served.pass(kIdle);
    CHECK_FALSE(served.ask(second, {Verb::ping, {}}));
    CHECK(served.clients() == 2);
}

TEST_CASE("what a client does not read is not computed, and it is given up") {
    Served served;
    const Stranger greedy(served.port);
    CHECK(greedy.say("1 mr len=4096\n") > 0);
    for (int turns = 0; turns < 100 && served.clients() == 0; ++turns) served.turn();
    std::string questions;
    for (int i = 0; i < 500; ++i) questions += "2 read mr=1 len=4096\n";
    std::uint64_t asked = 0;
    int still = 0;
    for (int turns = 0; turns < 20'000 && still < 200; ++turns) {
        static_cast<void>(greedy.say(questions));
        served.turn();
        still = served.program->counts().messages == asked ? still + 1 : 0;
        asked = served.program->counts().messages;
    }
    CHECK(still == 200);  // it came to a stop, with what the sockets of both ends hold
    CHECK(asked < 4000);
    bool reads = true;
    for (const Watched& each : served.program->watched()) reads = reads && each.to_read;
    CHECK_FALSE(reads);
    SECTION("it reads again, and is answered on") {
        for (int turns = 0; turns < 20'000 && served.program->counts().messages < asked + 100; ++turns) {
            static_cast<void>(greedy.hear());
            served.turn();
        }
        CHECK(served.program->counts().messages >= asked + 100);
    }
    SECTION("it never does") {
        served.pass(kPatienceReading);
        auto next = served.connect();
        CHECK(served.ask(next, {Verb::ping, {}})->ok);
    }
}

TEST_CASE("a line without an end is not kept") {
    for (const std::string& secret : {std::string{}, kSecret}) {
        Served served(secret);
        const Stranger stranger(served.port);
        const std::string much(2 * kMostLine, 'x');
        for (int turns = 0; turns < 100 && !stranger.closed(); ++turns) {
            static_cast<void>(stranger.say(much));
            served.turn();
            if (stranger.hear().contains("longer than any line")) break;
        }
        for (int turns = 0; turns < 100 && !stranger.closed(); ++turns) {
            static_cast<void>(stranger.hear());
            served.turn();
        }
        CHECK(stranger.closed());
        CHECK(served.clients() == 0);
    }
}
