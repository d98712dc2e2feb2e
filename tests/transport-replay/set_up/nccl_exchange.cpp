// What NCCL tells its peer over TCP, in the layouts of its versions, and connections that are sure from their first
// packet.
#include <tests/support/catch.hpp>
#include <tests/support/told_programs.hpp>
#include <tests/support/wire_bytes.hpp>
#include <transport-replay/set_up/nccl_exchange.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr std::uint8_t kRcWriteOnly = 0x0a;
constexpr std::string_view kHello("\x6c\x9d\x4b\xfc\xf2\xb9\x4a\x56\x04\0\0\0", kNcclHello);

struct NcclDevice {
    std::uint32_t host = 0;
    std::uint32_t key = 0;
};
// A version of it.
struct NcclForm {
    const char* name = "";
    bool one_device = false;
    std::size_t before = 0;   // bytes about devices
    std::size_t behind = 0;   // of one device: bytes behind the numbers of queue pairs; else queue pairs of others
    std::size_t device = 56;  // bytes
};
constexpr std::array kNcclForms{
    NcclForm{"one device", true, 0, 0},
    NcclForm{"one device with ECE", true, 0, 16 * 128},
    NcclForm{"several devices", false, 0, 0},
    NcclForm{"devices named before", false, 20, 0},
    NcclForm{"four queue pairs for probes", false, 21, 4},
    NcclForm{"eight queue pairs for recovery", false, 21, 8},
    NcclForm{"devices with speeds", false, 21, 8, 72},
};

void add_gid(WireBytes& wire, std::uint32_t host) {
    const auto [high, low] = AnalysedWire::host(host).bits;
    wire.add(WireBytes{}.put(high).put(low).bytes);
}

// Of queue pairs that are spread over the devices.
std::string metadata(const NcclForm& form, const std::vector<std::uint32_t>& queue_pairs,
                     const std::vector<NcclDevice>& devices) {
    WireBytes wire{.bytes = {}, .little = true};
    wire.zeros(form.before);
    if (form.before != 0) wire.bytes[0] = static_cast<std::byte>(devices.size());
    if (form.one_device) {
        wire.put(std::uint32_t{0}).put(std::uint8_t{1}).put(std::uint8_t{2}).zeros(2);
        for (std::size_t i = 0; i < 128; ++i) wire.put(i < queue_pairs.size() ? queue_pairs[i] : 0U);
        wire.zeros(form.behind);
        add_gid(wire, devices[0].host);
        wire.put(std::uint32_t{5}).put(devices[0].key).put(std::uint64_t{0x7f00'0000'1000});
    } else {
        for (std::size_t i = 0; i < 128 + form.behind; ++i) {
            const bool used = i < queue_pairs.size();
            wire.put(used ? queue_pairs[i] : 0U).put(used ? std::uint32_t{0x15b3} : 0U).zeros(8).put(used ? 1U : 0U);
            wire.put(static_cast<std::uint32_t>(used ? i % devices.size() : 0));
        }
        for (const NcclDevice& device : devices) {
            const std::size_t begin = wire.bytes.size();
            wire.put(std::uint32_t{0})
                .put(std::uint8_t{1})
                .zeros(3)
                .put(std::uint32_t{5})
                .put(std::uint8_t{2})
                .zeros(3);
            add_gid(wire, device.host);
            wire.put(device.key).zeros(form.device - (wire.bytes.size() - begin));
        }
        wire.zeros(200);
    }
    return {reinterpret_cast<const char*>(wire.bytes.data()), wire.bytes.size()};
}
Bytes octets_of(const std::string& text) { return std::as_bytes(std::span(text)); }

constexpr std::uint32_t kKey = 0x182a00;

// Host 1 connects and sends, host 2 receives: queue pairs 17 and 33.
struct NcclPrograms : Programs {
    void exchange(const NcclForm& form, std::uint32_t key = kKey) {
        say(0, std::string(kHello));
        say(0, metadata(form, {17}, {{1, key}}));
        say(1, metadata(form, {33}, {{2, 0x77}}));
    }
    // Where the receiver wants data, then data.
    void use(std::uint32_t key = kKey, std::uint32_t psn = 0, std::uint8_t opcode = kRcWriteOnly) {
        wire.access = RemoteAccess{0x7f00'0000'1000, Rkey{key}, 64};
        wire.packet(2, 1, 17, opcode, psn);
        wire.access.reset();
        wire.packet(1, 2, 33, kRcSendOnly, 0);
        wire.packet(2, 1, 17, kRcAcknowledge, 0);
    }
};

}  // namespace

TEST_CASE("NCCL: the queue pairs of every version's layout") {
    for (const NcclForm& form : kNcclForms) {
        INFO(form.name);
        const std::string said = metadata(form, {17, 18}, {{1, kKey}});
        const auto found = read_nccl(octets_of(said), AnalysedWire::host(1));
        REQUIRE(found.size() == (form.one_device ? 1U : 2U));
        CHECK(found[0].index == 0);
        CHECK(found[0].qpn == Qpn{17});
        CHECK(found[0].key == Rkey{kKey});
        CHECK(read_nccl(octets_of(said), AnalysedWire::host(2)).empty());
        for (std::size_t size = 0; size + 216 < said.size(); size += 7) {
            const auto part = read_nccl(octets_of(said).first(size), AnalysedWire::host(1));
            CHECK((part.empty() || part[0].qpn == Qpn{17}));
        }
        CHECK(read_nccl(octets_of(said).first(500), AnalysedWire::host(1)).empty());
    }
}

TEST_CASE("NCCL: of several devices those queue pairs count whose device has the address") {
    for (const NcclForm& form : kNcclForms) {
        if (form.one_device) continue;
        INFO(form.name);
        const std::string said = metadata(form, {17, 18, 19, 20}, {{1, 0x100}, {5, 0x200}, {6, 0x300}, {7, 0x400}});
        for (const std::uint32_t device : {0U, 1U, 2U, 3U}) {
            const auto found = read_nccl(octets_of(said), AnalysedWire::host(device == 0 ? 1 : 4 + device));
            REQUIRE(found.size() == 1);
            CHECK(found[0].index == device);
            CHECK(found[0].qpn == Qpn{17 + device});
            CHECK(found[0].key == Rkey{0x100 * (device + 1)});
        }
    }
}

TEST_CASE("NCCL: connections are known from the write on that says where data is wanted") {
    for (const NcclForm& form : kNcclForms) {
        INFO(form.name);
        NcclPrograms programs;
        programs.exchange(form);
        programs.use();
        const Timeline timeline = programs.finish();
        CHECK(host_pairs(timeline) == HostPairNames{"17-33 exchange"});
        CHECK(timeline.connections.at(0).confidence == Confidence::certain);
        CHECK(timeline.connections.at(0).packets() == 3);
    }
}

TEST_CASE("NCCL: what segments cut anywhere is put together, what is lost proves nothing") {
    const std::string one = std::string(kHello) + metadata(kNcclForms[3], {17}, {{1, kKey}}),
                      two = metadata(kNcclForms[3], {33}, {{2, 0x77}});
    const auto pieces = [](Programs& programs, std::size_t from, const std::string& all, std::size_t size) {
        for (std::size_t at = 0; at < all.size(); at += size) programs.say(from, all.substr(at, size));
    };
    for (const std::size_t size : {8U, 12U, 13U, 536U, 1448U, 4000U}) {
        INFO("pieces of " << size);
        NcclPrograms programs;
        pieces(programs, 0, one, size);
        pieces(programs, 1, two, size);
        programs.use();
        CHECK(host_pairs(programs.finish()) == HostPairNames{"17-33 exchange"});
    }
    NcclPrograms lacks;
    lacks.say(0, one.substr(0, 1448));
    lacks.skip(0, 10);
    lacks.say(0, one.substr(1448));
    lacks.say(1, two);
    lacks.use();
    CHECK(host_pairs(lacks.finish()) != HostPairNames{"17-33 exchange"});
}

TEST_CASE("NCCL: queue pairs that are used anew are another connection") {
    for (const bool anew : {true, false}) {
        NcclPrograms programs;
        programs.exchange(kNcclForms[3]);
        programs.use();
        programs.segment(0, programs.seq[0], "", Programs::kFin | Programs::kAck);
        programs.exchange(kNcclForms[3], anew ? kKey + 256 : kKey);
        programs.use(anew ? kKey + 256 : kKey);
        CHECK(host_pairs(programs.finish()) == HostPairNames(anew ? 2 : 1, "17-33 exchange"));
    }
}

TEST_CASE("NCCL: near misses leave pairs to their packets") {
    const auto is_exchange = [](NcclPrograms& programs) {
        const auto said = host_pairs(programs.finish());
        return std::ranges::find(said, "17-33 exchange") != said.end();
    };
    SECTION("none") {
        NcclPrograms programs;
        programs.exchange(kNcclForms[2]);
        programs.use();
        CHECK(is_exchange(programs));
    }
    SECTION("it writes to other memory") {
        NcclPrograms programs;
        programs.exchange(kNcclForms[2]);
        programs.use(kKey + 1);
        CHECK_FALSE(is_exchange(programs));
    }
    SECTION("it begins with another PSN") {
        NcclPrograms programs;
        programs.exchange(kNcclForms[2]);
        programs.use(kKey, 1);
        CHECK_FALSE(is_exchange(programs));
    }
    SECTION("it reads") {
        NcclPrograms programs;
        programs.exchange(kNcclForms[2]);
        programs.use(kKey, 0, 0x0c);
        CHECK_FALSE(is_exchange(programs));
    }
    SECTION("who sends begins") {
        NcclPrograms programs;
        programs.exchange(kNcclForms[2]);
        programs.wire.packet(1, 2, 33, kRcSendOnly, 0);
        programs.wire.packet(2, 1, 17, kRcAcknowledge, 0);
        CHECK_FALSE(is_exchange(programs));
    }
    SECTION("of another kind of socket, or none of NCCL") {
        for (const std::size_t byte : {std::size_t{8}, std::size_t{0}, std::size_t{7}}) {
            NcclPrograms programs;
            std::string hello(kHello);
            ++hello[byte];
            programs.say(0, hello + metadata(kNcclForms[2], {17}, {{1, kKey}}));
            programs.say(1, metadata(kNcclForms[2], {33}, {{2, 0x77}}));
            programs.use();
            CHECK_FALSE(is_exchange(programs));
        }
    }
    SECTION("one side has no such device") {
        NcclPrograms programs;
        programs.say(0, std::string(kHello) + metadata(kNcclForms[2], {17}, {{1, kKey}}));
        programs.say(1, metadata(kNcclForms[2], {33}, {{3, 0x77}}));
        programs.use();
        CHECK_FALSE(is_exchange(programs));
    }
    SECTION("somebody goes on for ever") {
        NcclPrograms programs;
        programs.say(0, std::string(kHello));
        for (int i = 0; i < 100; ++i) programs.say(0, std::string(1000, 'x'));
        programs.say(0, metadata(kNcclForms[2], {17}, {{1, kKey}}));
        programs.say(1, metadata(kNcclForms[2], {33}, {{2, 0x77}}));
        programs.use();
        CHECK_FALSE(is_exchange(programs));
    }
}
