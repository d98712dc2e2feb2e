// What an attacker may feed the trackers stays within the bounds that their headers name.
#include <tests/support/catch.hpp>
#include <transport-replay/tracking/request_stream.hpp>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

// Most messages open at any time while every second PSN of a large gap comes late, from its end to its beginning.
std::size_t most_open_while_late(std::uint32_t count) {
    RequestStream stream;
    std::vector<Message> done;
    std::size_t most = 0;
    const auto send = [&](std::uint32_t psn) {
        Observation request;
        request.opcode = qps::dissect::Opcode{4};  // RC SEND Only
        request.psn = Psn(psn);
        stream.send(request, 1024, done);
        most = std::max(most, stream.open());
    };
    send(0);
    send(2 * count);
    for (std::uint32_t i = 1; i < count; ++i) send(2 * (count - i));
    return most;
}

}  // namespace

TEST_CASE("late requests open no more messages than others") {
    CHECK(most_open_while_late(RequestStream::kMaxOpen + 100) <= RequestStream::kMaxOpen);
}
