// SDP: hello messages in the private data of CM, the header of messages with what follows, what nearly is one, what
// ends too early.
#include <dissect/ulp/sdp.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/hinted.hpp>
#include <tests/support/sdp_messages.hpp>

using namespace qps::dissect;
using namespace qps::tests;

TEST_CASE("SDP: the header of a message and what follows it") {
    const Hinted data(sdp_message(0xff, Octets(100)), UlpProtocol::sdp);
    CHECK(data.layers() == "infiniband_sdp.bsdh data");
    CHECK(data.number("infiniband_sdp.bsdh.mid") == 0xff);
    CHECK(data.number("infiniband_sdp.bsdh.flags") == 1);
    CHECK(data.number("infiniband_sdp.bsdh.oobpres") == 1);
    CHECK(data.number("infiniband_sdp.bsdh.reqpipe") == 0);
    CHECK(data.number("infiniband_sdp.bsdh.bufs") == 20);
    CHECK(data.number("infiniband_sdp.bsdh.len") == 116);
    CHECK(data.number("infiniband_sdp.bsdh.mseq") == 7);
    CHECK(data.number("infiniband_sdp.bsdh.mseqack") == 6);
    WireBytes memory;
    memory.put(std::uint32_t{8192}).put(std::uint32_t{0x77}).put(std::uint64_t{0x7f00'0000'1000});
    const Hinted source(sdp_message(0xfe, memory.bytes), UlpProtocol::sdp);
    CHECK(source.layers() == "infiniband_sdp.bsdh infiniband_sdp.srcah");
    CHECK(source.number("rdma.sdp.srcavail.len") == 8192);
    CHECK(source.number("rdma.sdp.srcavail.r_key") == 0x77);
    CHECK(source.number("rdma.sdp.srcavail.va") == 0x7f00'0000'1000);
    const Octets number = WireBytes{}.put(std::uint32_t{4096}).bytes;
    for (const std::uint8_t moved : {std::uint8_t{5}, std::uint8_t{6}})
        CHECK(Hinted(sdp_message(moved, number), UlpProtocol::sdp).number("rdma.sdp.moved") == 4096);
    for (const std::uint8_t change : {std::uint8_t{11}, std::uint8_t{12}})
        CHECK(Hinted(sdp_message(change, number), UlpProtocol::sdp).number("rdma.sdp.buffer") == 4096);
    CHECK(Hinted(sdp_message(2, {}), UlpProtocol::sdp).layers() == "infiniband_sdp.bsdh");
    cut_everywhere(sdp_message(0xfe, memory.bytes), UlpProtocol::sdp);
}

TEST_CASE("SDP: what is a hello, and what nearly is") {
    CHECK(sdp::is_hello(sdp_hello(), sdp::kHello));
    CHECK_FALSE(sdp::is_hello(sdp_hello(), sdp::kHelloAck));
    for (const std::size_t at : {0U, 6U, 16U, 17U}) {
        Octets changed = sdp_hello();
        changed[at] ^= std::byte{0x81};
        CHECK_FALSE(sdp::is_hello(changed, sdp::kHello));
    }
    for (const Octets& plain : plain_messages()) CHECK_FALSE(sdp::is_hello(plain, sdp::kHello));
}
