#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/conformance/iwarp/iwarp_probe.hpp>
#include <transport-replay/iwarp/iwarp_words.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr Field kPrivateBytes = named(kMpaReplyFields, "iwarp_mpa.pdlength");
constexpr Field kRejects = named(kMpaReplyFields, "iwarp_mpa.rej_flag");
constexpr Field kWantsMarkers = named(kMpaReplyFields, "iwarp_mpa.marker_flag");
constexpr Field kErrorLayer = named(kRdmapTerminateFields, "iwarp_rdma.term_layer");
constexpr Field kErrorType = named(kRdmapTerminateFields, "iwarp_rdma.term_etype_rdma");
constexpr Field kErrorCode = named(kRdmapTerminateFields, "iwarp_rdma.term_errcode_rdma");

// Of answers that did not come, all or some.
std::string answered(std::size_t answers, std::size_t expected) {
    return answers == 0 ? "no answer" : fmt::format("{} of {}", answers, counted(expected, "answer"));
}

constexpr std::string_view kMarkersWanted = "the device asks for markers, which this tester does not send";

}  // namespace

IwarpProbeRun::IwarpProbeRun(const IwarpProbe& probe, const FlowKey& flow, HostTallies& tallies, Instant now,
                             Duration patience)
    : probe_(probe), exchange_(flow), tallies_(tallies), flow_(flow), began_(now), now_(now), patience_(patience) {
    outcome_.probe = &probe;
}

void IwarpProbeRun::end(Verdict verdict, std::string reason) {
    if (over_) return;
    over_ = true;
    outcome_.verdict = verdict;
    outcome_.reason = std::move(reason);
    outcome_.took = now_ - began_;
}

ProbeOutcome IwarpProbeRun::outcome() {
    exchange_.finish(tallies_);
    return std::move(outcome_);
}

void IwarpProbeRun::note(ExchangeWay way, std::string text) {
    if (outcome_.exchange.size() == kMostExchange) outcome_.exchange.erase(outcome_.exchange.begin());
    outcome_.exchange.push_back({.at = now_ - began_, .way = way, .text = std::move(text)});
}

// As a tap beside us had it.
void IwarpProbeRun::show(End from, Bytes bytes, bool fin) {
    const std::size_t sender = static_cast<std::size_t>(from), receiver = 1 - sender;
    Observation observation;
    observation.frame = FrameIndex{++frames_};
    observation.time = now_;
    observation.flow =
        from == End::a ? flow_ : FlowKey{flow_.destination, flow_.source, flow_.source_qp, flow_.destination_qp};
    const TcpSegmentView segment{.seq = streams_[sender],
                                 .ack = streams_[receiver],
                                 .has_ack = true,
                                 .fin = fin,
                                 .data = bytes,
                                 .length = static_cast<std::uint32_t>(bytes.size())};
    streams_[sender] += static_cast<std::uint32_t>(bytes.size());
    exchange_.observe(observation, segment, tallies_);
}

bool IwarpProbeRun::is_settled() const {
    const bool before = probe_.expects == ProbeExpects::ended || probe_.expects == ProbeExpects::reason;
    return !before || answers_ >= probe_.answers;
}

std::vector<std::byte> IwarpProbeRun::take_output() {
    if (over_) return {};
    const auto some = [&](const StreamBytes& all, std::size_t& sent, bool bytewise) {
        const std::size_t count = bytewise ? 1 : all.size() - sent;
        std::vector<std::byte> part(all.begin() + static_cast<std::ptrdiff_t>(sent),
                                    all.begin() + static_cast<std::ptrdiff_t>(sent + count));
        sent += count;
        // A request is judged by its first segment: here it has one.
        if (&all != &probe_.request) show(End::a, part, false);
        else if (sent == all.size()) show(End::a, all, false);
        return part;
    };
    if (sent_of_request_ < probe_.request.size()) {
        if (sent_of_request_ == 0)
            note(ExchangeWay::to_device, fmt::format("MPA request, {}", counted(probe_.request.size(), "byte")));
        return some(probe_.request, sent_of_request_, probe_.request_bytewise);
    }
    if (probe_.expects == ProbeExpects::left) {
        pass();
        return {};
    }
    if (!accepted_ || now_ - *accepted_ < kSettling || next_ == probe_.then.size()) return {};
    const bool wrong_is_next = next_ >= probe_.answers;
    if (sent_of_part_ == 0 && wrong_is_next && !is_settled()) return {};
    const StreamBytes& part = probe_.then[next_];
    if (sent_of_part_ == 0) {
        const std::string_view what = next_ == probe_.answers ? probe_.title : "FPDU of a READ of no bytes";
        note(ExchangeWay::to_device, fmt::format("{}, {}", what, counted(part.size(), "byte")));
    }
    std::vector<std::byte> bytes = some(part, sent_of_part_, probe_.then_bytewise);
    if (sent_of_part_ == part.size()) {
        ++next_;
        sent_of_part_ = 0;
    }
    return bytes;
}

void IwarpProbeRun::process(Bytes heard) {
    if (over_) return;
    show(End::b, heard, false);
    heard_.insert(heard_.end(), heard.begin(), heard.end());
    if (heard_.size() > kMostHeard) return end(Verdict::fail, "the device sends what nobody asked for, without end");
    if (!accepted_ && !take_reply()) return;
    while (!over_ && take_fpdu()) {
    }
}

// False where there is no more to read.
bool IwarpProbeRun::take_reply() {
    if (heard_.size() < kMpaSetUpLength) return false;
    const std::size_t length = kMpaSetUpLength + read(heard_, kPrivateBytes);
    if (heard_.size() < length) return false;
    if (!has_reply_key(heard_)) {
        if (probe_.expects == ProbeExpects::refused) pass();
        else end(Verdict::inconclusive, "what answers is no responder of MPA");
        return false;
    }
    const bool rejected = read(heard_, kRejects) != 0;
    note(ExchangeWay::from_device, rejected ? "MPA reply that rejects" : "MPA reply that accepts");
    const bool markers = read(heard_, kWantsMarkers) != 0;
    heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(length));
    if (probe_.expects == ProbeExpects::refused) {
        if (rejected) pass();
        else end(Verdict::fail, fmt::format("{} was accepted", probe_.title));
        return false;
    }
    if (rejected) {
        const bool must = probe_.expects == ProbeExpects::answered;
        end(must ? Verdict::fail : Verdict::inconclusive, "the device rejected the connection");
        return false;
    }
    if (markers) {
        end(Verdict::inconclusive, std::string(kMarkersWanted));
        return false;
    }
    accepted_ = now_;
    return true;
}

bool IwarpProbeRun::take_fpdu() {
    if (heard_.size() < mpa::kLengthField) return false;
    const std::size_t ulpdu = read_be<std::uint16_t>(heard_, 0), total = mpa::plain_bytes(ulpdu);
    if (heard_.size() < total) return false;
    const Bytes bytes = Bytes(heard_).first(total);
    const bool right =
        crc32c(bytes.first(total - mpa::kCrcLength)) == read_be<std::uint32_t>(bytes, total - mpa::kCrcLength);
    const Bytes segment = slice(bytes, mpa::kLengthField, ulpdu);
    const auto heading = mpa::heading(segment, ulpdu);
    if (!right || !heading) {
        note(ExchangeWay::from_device, right ? "an FPDU that is no message of RDMAP" : "an FPDU with a wrong CRC");
        end(Verdict::inconclusive, "the device sent an FPDU that is wrong itself");
        return false;
    }
    const auto opcode = static_cast<RdmapOpcode>(heading->opcode);
    if (opcode == RdmapOpcode::read_response) take_response();
    else if (opcode == RdmapOpcode::terminate) take_terminate(segment.subspan(heading->length()));
    else
        note(ExchangeWay::from_device,
             std::string(name_in(kRdmapOpcodeNames, heading->opcode)));  // of the service, on its own
    if (!over_) heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(total));
    return true;
}

void IwarpProbeRun::take_response() {
    ++answers_;
    note(ExchangeWay::from_device, "READ response");
    if (probe_.expects == ProbeExpects::answered) {
        if (answers_ == probe_.answers && next_ == probe_.then.size()) pass();
        return;
    }
    if (answers_ > probe_.answers)
        end(Verdict::fail, fmt::format("{} was taken: what followed it was answered", probe_.title));
}

void IwarpProbeRun::take_terminate(Bytes payload) {
    const Terminated said{.layer = static_cast<std::uint8_t>(read(payload, kErrorLayer)),
                          .type = static_cast<std::uint8_t>(read(payload, kErrorType)),
                          .code = static_cast<std::uint8_t>(read(payload, kErrorCode))};
    const std::string text = terminate_text(said);
    note(ExchangeWay::from_device, "Terminate: " + text);
    if (!is_settled())
        return end(Verdict::inconclusive, fmt::format("the device terminated before anything was wrong: {}", text));
    if (probe_.expects == ProbeExpects::answered)
        return end(Verdict::fail, fmt::format("the device terminated the connection: {}", text));
    const bool named =
        std::ranges::find(probe_.reasons, TerminateReason{said.layer, said.type, said.code}) != probe_.reasons.end();
    if (probe_.expects == ProbeExpects::reason && !named)
        return end(Verdict::fail, fmt::format("the Terminate says otherwise: {}", text));
    pass();
}

void IwarpProbeRun::closed() {
    if (over_) return;
    note(ExchangeWay::from_device, "the connection ends");
    show(End::b, {}, true);
    switch (probe_.expects) {
        case ProbeExpects::left:
        case ProbeExpects::refused: return pass();
        case ProbeExpects::answered:
            return end(Verdict::fail, fmt::format("the device ended the connection after {}",
                                                  answers_ == 0 ? "the request" : answered(answers_, probe_.answers)));
        case ProbeExpects::ended:
        case ProbeExpects::reason: break;
    }
    if (!accepted_ || !is_settled())
        return end(Verdict::inconclusive, "the device ended the connection before anything was wrong");
    if (probe_.expects == ProbeExpects::ended) return pass();
    end(Verdict::inconclusive, "the device ended the connection without a Terminate");
}

void IwarpProbeRun::tick(Instant now) {
    now_ = now;
    if (over_ || now - began_ < patience_) return;
    const std::string waited = duration_text(patience_);
    if (probe_.expects == ProbeExpects::refused)
        return end(Verdict::fail, fmt::format("the device neither refused nor ended the connection within {}", waited));
    if (probe_.expects == ProbeExpects::answered)
        return end(Verdict::fail, fmt::format("{} within {}", answered(answers_, probe_.answers), waited));
    if (!accepted_ || !is_settled())
        return end(Verdict::inconclusive,
                   fmt::format("the device did not answer a READ of no bytes within {}", waited));
    end(Verdict::fail, fmt::format("the device did not end the connection within {}", waited));
}

}  // namespace qps::transport::conformance
