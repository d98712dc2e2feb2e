// Builds a packet to order, sends it over a simulated link that loses and corrupts, and decodes what arrives.
//   simulated_link [SEED]      the same seed always gives the same output
#include <dissect/packet/build.hpp>
#include <dissect/packet/notation.hpp>
#include <transport-replay/live/device/sim_device.hpp>

#include <algorithm>
#include <iostream>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;

int main(int argc, char** argv) {
    LinkSettings settings;
    if (argc > 1) settings.seed = std::stoull(argv[1]);
    settings.a_to_b = {.loss = 0.2, .corruption = 0.2};
    const std::shared_ptr<SimWire> wire = make_wire(settings, {}, Instant{});
    Device a = open_sim_device(wire, End::a);
    Device b = open_sim_device(wire, End::b);
    Instant now{};
    for (std::uint64_t psn = 1; psn <= 10; ++psn) {
        PacketSpec spec =
            transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);  // RC SEND Only; lengths and CRCs come by themselves
        set(spec, "infiniband.bth.psn", psn);
        spec.payload.resize(64);
        const std::vector<std::byte> frame = build(spec);
        std::ranges::copy(frame, a.reserve(now).begin());
        a.commit(frame.size(), now);
        a.flush(now);
        now = b.poll_at().value_or(now);  // virtual time: on to the next arrival, if there is one
        for (const ReceivedFrame& received : b.receive(now)) {
            Packet packet;
            decode(frame_of(spec, received.bytes), packet);
            std::string line = std::to_string(static_cast<std::int64_t>(now)) + " ns ";
            append_line(line, packet);
            std::cout << line << '\n';  // a wrong ICRC is said there
        }
    }
}
