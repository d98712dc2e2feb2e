// THE table of probes.
#include <transport-replay/conformance/iwarp/iwarp_probe.hpp>

namespace qps::transport::conformance {

namespace {

constexpr std::uint32_t kNobodysStag = 0xdeadbe00;
constexpr std::uint8_t kLastVersion3 = 0x43;  // DDP control
constexpr std::uint8_t kRdmapVersion3 = 0xc1, kRdmapReserved = 0x4f;
constexpr std::uint16_t kTooMuchPrivate = 600;
constexpr std::size_t kHalves = 8;

StreamBytes empty_read(std::uint32_t msn) { return fpdu(read_request_ulpdu(msn)); }
StreamBytes spoiled_crc() {
    StreamBytes made = empty_read(2);
    made.back() ^= std::byte{1};
    return made;
}
StreamBytes request_of_revision(std::uint8_t revision) {
    constexpr std::size_t kRevisionAt = 17;
    return changed(mpa_request(), kRevisionAt, revision);
}

// A READ of no bytes that is answered; then what is wrong; then another READ, which nobody may answer.
IwarpProbe wrong(std::string_view check, std::string_view title, StreamBytes bytes, std::uint32_t next = 2) {
    return {.check = check,
            .title = title,
            .expects = ProbeExpects::ended,
            .request = mpa_request(),
            .then = {empty_read(1), std::move(bytes), empty_read(next)},
            .answers = 1};
}
IwarpProbe refused(std::string_view check, std::string_view title, StreamBytes request) {
    return {.check = check, .title = title, .expects = ProbeExpects::refused, .request = std::move(request)};
}

std::vector<IwarpProbe> all_probes() {
    constexpr std::size_t kKeyAt = 10;
    const StreamBytes data(8);
    std::vector<IwarpProbe> probes;
    probes.push_back(refused("MPA-18", "a request of revision 77", request_of_revision(77)));
    probes.push_back(refused("MPA-19", "a request with another key", changed(mpa_request(), kKeyAt, 'X')));
    probes.push_back(
        refused("MPA-20", "a request with 600 bytes of private data", mpa_request({.private_bytes = kTooMuchPrivate})));
    probes.push_back({.check = "MPA-21",
                      .title = "a request byte by byte",
                      .expects = ProbeExpects::answered,
                      .request = mpa_request(),
                      .then = {empty_read(1)},
                      .answers = 1,
                      .request_bytewise = true});
    probes.push_back(wrong("MPA-22", "an FPDU with a wrong CRC", spoiled_crc(), 3));
    probes.push_back({.check = "MPA-23",
                      .title = "three FPDUs byte by byte",
                      .expects = ProbeExpects::answered,
                      .request = mpa_request(),
                      .then = {empty_read(1), empty_read(2), empty_read(3)},
                      .answers = 3,
                      .then_bytewise = true});
    probes.push_back({.check = "MPA-24",
                      .title = "three FPDUs in one segment",
                      .expects = ProbeExpects::answered,
                      .request = mpa_request(),
                      .then = {joined_bytes(joined_bytes(empty_read(1), empty_read(2)), empty_read(3))},
                      .answers = 3});
    probes.push_back(wrong("MPA-25", "an FPDU of four bytes", fpdu(StreamBytes(4, std::byte{0x41}))));
    StreamBytes half = mpa_request();
    half.resize(half.size() / 2);
    probes.push_back({.check = "MPA-26",
                      .title = "a connection that ends within the request",
                      .expects = ProbeExpects::left,
                      .request = std::move(half),
                      .times = kHalves});
    probes.push_back(wrong("DDP-11", "a READ request of DDP version 3",
                           fpdu(changed(read_request_ulpdu(2), kDdpControlAt, kLastVersion3)), 3));
    probes.push_back(
        wrong("DDP-12", "a READ request on queue 9", fpdu(changed(read_request_ulpdu(2), kQueueNumberAt + 3, 9)), 3));
    probes.push_back(wrong("DDP-13", "a READ request that skips an MSN", fpdu(read_request_ulpdu(3)), 4));
    probes.push_back(wrong("DDP-14", "a READ request with message offset 4",
                           fpdu(changed(read_request_ulpdu(2), kMessageOffsetAt + 3, 4)), 3));
    probes.push_back(
        wrong("DDP-15", "a WRITE to an STag that does not exist", fpdu(write_ulpdu(kNobodysStag, 0, data))));
    probes.push_back(wrong("RDM-23", "a READ request of RDMAP version 3",
                           fpdu(changed(read_request_ulpdu(2), kRdmapControlAt, kRdmapVersion3)), 3));
    probes.push_back(wrong("RDM-24", "a segment with opcode 15",
                           fpdu(changed(read_request_ulpdu(2), kRdmapControlAt, kRdmapReserved)), 3));
    IwarpProbe read = wrong("RDM-25", "a READ of an STag that does not exist",
                            fpdu(read_request_ulpdu(2, {.sink = 1, .length = 8, .source = kNobodysStag})), 3);
    read.expects = ProbeExpects::reason;
    read.reasons = {{0, 1, 0},
                    {0, 1, 1},
                    {0, 1, 2},
                    {0, 1, 3}};  // remote protection error of RDMAP: the STag, bounds, rights, the stream
    probes.push_back(std::move(read));
    probes.push_back(
        wrong("RDM-26", "a READ response that answers nothing", fpdu(read_response_ulpdu(kNobodysStag, 0, data))));
    IwarpProbe terminate = wrong("RDM-27", "a Terminate", fpdu(terminate_ulpdu({.layer = 0, .type = 0, .code = 0xff})));
    terminate.then.pop_back();  // who sent one says nothing more
    probes.push_back(std::move(terminate));
    return probes;
}

}  // namespace

std::span<const IwarpProbe> iwarp_probes() {
    static const std::vector<IwarpProbe> kProbes = all_probes();
    return kProbes;
}

const IwarpProbe& iwarp_alive() {
    static const IwarpProbe kAlive{.check = {},
                                   .title = "a connection and a READ of no bytes",
                                   .expects = ProbeExpects::answered,
                                   .request = mpa_request(),
                                   .then = {empty_read(1)},
                                   .answers = 1};
    return kAlive;
}

}  // namespace qps::transport::conformance
