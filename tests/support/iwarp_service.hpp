// IwarpService: our own responder of iWARP, as a service that any probe may connect to: it accepts, answers READs of no
// bytes, and refuses what is wrong with the Terminate that RFCs 5040, 5041 and 5044 have for it. It can be told to
// neglect one duty: the mutants of the probes.
#pragma once

#include <transport-replay/conformance/iwarp/iwarp_bytes.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace qps::tests {

// What a service has to look at, or to bear.
enum class IwarpDuty : std::uint8_t {
    none,
    revision,
    key,
    private_length,
    request_in_pieces,
    crc,
    fpdu_in_pieces,
    fpdus_together,
    early_end,
    length,
    ddp_version,
    queue,
    msn,
    offset,
    write_stag,
    rdmap_version,
    opcode,
    read_stag,
    unasked_response,
    terminate,
};
enum class IwarpLapse : std::uint8_t {
    goes_on,  // as if nothing were wrong; what must be borne ends the connection
    hangs,    // and does nothing any more
    lies,     // READ_STAG: another reason; what must be borne is answered with too little
};

class IwarpService {
public:
    IwarpService() = default;
    IwarpService(IwarpDuty neglected, IwarpLapse lapse) : neglected_(neglected), lapse_(lapse) {}

    // A connection comes; false: nobody takes it.
    [[nodiscard]] bool accept();
    void process(dissect::Bytes heard);
    void closed();  // by the other end
    [[nodiscard]] transport::conformance::StreamBytes take_output();
    [[nodiscard]] bool ended() const { return ended_; }

private:
    using Reason = transport::conformance::TerminateReason;
    [[nodiscard]] bool neglects(IwarpDuty duty) const { return neglected_ == duty; }
    // Whether the connection is over for it.
    bool refuses(IwarpDuty duty, std::optional<Reason> reason);
    void take_request();
    [[nodiscard]] bool take_fpdu();
    void take_untagged(dissect::Bytes ulpdu);
    void take_tagged(std::uint8_t opcode);
    void say(const transport::conformance::StreamBytes& bytes);

    IwarpDuty neglected_ = IwarpDuty::none;
    IwarpLapse lapse_{};
    bool gone_ = false;  // for good
    transport::conformance::StreamBytes heard_{};
    transport::conformance::StreamBytes output_{};
    bool accepted_ = false;
    bool ended_ = false;
    bool hangs_ = false;
    std::uint32_t msn_ = 0;
    std::size_t pieces_ = 0;    // since something was whole
    std::size_t answered_ = 0;  // of this piece
};

}  // namespace qps::tests
