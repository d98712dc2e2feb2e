// Fuzzer of conformance scripts: any text is a script or is explained; what is one is played for a while over a
// simulated link, with no agent and with nobody who answers.
#include <transport-replay/conformance/script/parser.hpp>
#include <transport-replay/conformance/stage/stage.hpp>
#include <transport-replay/live/device/null_device.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::conformance;

namespace {

constexpr int kTurns = 200;  // of a run: far from the end of a patient one

void play(const script::Script& script) {
    dissect::Instant now{1'700'000'000'000'000'000};
    live::Endpoint endpoint(live::Device(live::NullDevice()),
                            {.host = {.mac = live::Mac{0x0200'0000'0002},
                                      .addresses = {{live::ipv4_address(0xc0000202), 24}},
                                      .owner = live::AddressOwner::device,
                                      .detect_duplicates = false}},
                            now);
    stage::Stage stage({.device = live::ipv4_address(0xc0000201), .port = live::IpPort{7174}}, {}, {});
    stage.begin(script, endpoint, now);
    for (int turn = 0; turn < kTurns && !stage.done(); ++turn) {
        endpoint.arrive(now);
        stage.poll(endpoint, now);
        endpoint.depart(now);
        const auto due = stage.poll_at();
        now = due && *due > now ? *due : now + microseconds(10'000);
    }
    if (stage.done() && stage.take_outcome().reason.size() > 100'000) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    int included = 0;
    const auto parsed = script::parse_script(
        "fuzzed", text,
        {.defined = {"given"}, .read = [&](std::string_view) -> std::expected<std::string, std::string> {
             if (++included > 4) return std::unexpected("no more files");
             return text.substr(0, text.size() / 2);
         }});
    if (!parsed) {
        if (script::explain(parsed.error()).empty() || parsed.error().message.empty()) std::abort();
        return 0;
    }
    play(*parsed);
    return 0;
}
