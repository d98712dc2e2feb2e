// The lines of a script of NVMe over RDMA in the making: what scripts say alike. Of nvme/ alone.
#pragma once

#include <transport-replay/conformance/nvme/nvme_capsules.hpp>
#include <transport-replay/conformance/nvme/nvme_scripts.hpp>

#include <string>
#include <string_view>

namespace qps::transport::conformance::nvme {

[[nodiscard]] std::string hex(dissect::Bytes bytes);

// Statuses, type << 8 | code (dissect/ulp/nvme_status.hpp).
inline constexpr unsigned kIncompatibleFormat = 0x180, kInvalidParameters = 0x182, kInvalidHost = 0x184;

inline constexpr unsigned kMostPieces = 40;  // of the data of a Connect

using Otherwise = std::vector<std::string_view>;  // lines of another alternative
struct Reading {
    std::uint32_t length = 1024;
    bool invalidates = false;  // the key of the data, or none
    std::vector<Otherwise> others{};
};

class ScriptText {
public:
    explicit ScriptText(const Names& names) : names_(names) {}

    void line(std::string_view words);
    void open(std::string_view words);  // a block
    void branch();                      // its next alternative
    void close();

    // A queue pair that CM connected; and what may come at any time: ACKs, and what was taken once more.
    void set_up(const QueueRequest& request = {});
    void known();  // the same of one that is there, whose variables are $us, $dut, $psn and $first
    // A REQ, as it is; what stands behind it comes of no other.
    void request(const QueueRequest& request);

    void send(dissect::Bytes capsule);
    void reads(std::uint32_t length = 1024);
    void bring(dissect::Bytes data);  // of that READ
    void counts();
    void may_come();
    // A response capsule: $status, $result, $cid.
    void answers();
    // READs of any pieces in any order, and the response; who READs in more pieces than are played here is not judged.
    void reads_or_answers(dissect::Bytes data, const Reading& how = {});
    void connect(std::uint16_t cid = 0);
    void succeeds(std::string_view what);
    void fails(std::string_view what);
    void fails_with(std::string_view what, unsigned status);
    // The same, with a queue that has a controller.
    void connected();
    // A property's value is $result.
    void property(const Property& property, bool right = true);
    // Where that is not the rule of the script itself, it is blocked by NVME-80.
    void enable(bool own_rule = false);
    // It is refused: a response that fails, a NAK, or the end of the connection.
    void is_refused(std::string_view what);
    void ends(std::string_view after);

    [[nodiscard]] const Names& names() const { return names_; }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    const Names& names_;
    std::string text_;
    std::size_t depth_ = 0;
};

}  // namespace qps::transport::conformance::nvme
