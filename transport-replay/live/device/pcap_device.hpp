// PcapDevice: an Ethernet interface through libpcap, where there are no raw packet sockets of Linux. Promiscuous,
// immediate, and only what comes in. A frame is copied on its way in and a system call on its way out, so PacketRing is
// the faster one.
//
// Needs the right to capture. What an attacker could feed: any frame; longer ones than limits().frame_bytes are
// dropped.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <expected>
#include <memory>
#include <string>

namespace qps::transport::live {

class PcapDevice final : public AnyDevice {
public:
    // `filter`: in the language of pcap-filter(7); empty: all frames. Fails for: no such interface, one that is not
    // Ethernet, no permission, a filter that libpcap refuses.
    [[nodiscard]] static std::expected<PcapDevice, Problem> open(const std::string& interface,
                                                                 const std::string& filter);
    PcapDevice(PcapDevice&&) noexcept;
    PcapDevice& operator=(PcapDevice&&) noexcept;
    ~PcapDevice() override;

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant now) override;
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) override;
    void commit(std::size_t bytes, dissect::Instant now) override;
    void flush(dissect::Instant now) override;
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override;
    [[nodiscard]] int descriptor() const override;
    [[nodiscard]] DeviceLimits limits() const override;
    [[nodiscard]] DeviceCounts counts() const override;
    [[nodiscard]] std::optional<Problem> problem() const override;

private:
    struct State;
    explicit PcapDevice(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace qps::transport::live
