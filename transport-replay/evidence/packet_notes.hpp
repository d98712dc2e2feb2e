// PacketNotes: what a report says of single packets, as the comments of an annotated capture: sentences for people, and
// behind them one line of names and values that the Wireshark plugin reads (packaging/wireshark/qpscope.lua).
//
//   retransmission: PSN 17 was sent before
//   finding warning ack-timeout: 10.0.0.1 hit the ACK timeout twice ...
//   {rdma.connection=3 rdma.from=a rdma.retransmission=1 rdma.finding=ack-timeout rdma.severity=warning}
//
// Made of a timeline, and asked in the order of the capture while it is read once more. What it keeps is bounded by
// what the timeline lists one by one.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/model/timeline.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qps::transport {

// What is annotated: findings alone, or everything that happened.
enum class NoteScope : std::uint8_t { findings, all };

class PacketNotes {
public:
    // The timeline must outlive it.
    PacketNotes(const Timeline& timeline, NoteScope scope);

    // Appends the comment of the packet to `out`; nothing where there is nothing to say. `ended`: the messages that it
    // ended. Frames come in order.
    void append(std::string& out, const Observation& observation, const PacketRecord& record,
                std::span<const Message> ended);

private:
    enum class Subject : std::uint8_t { finding, first_sending, trigger, resumed, recovered, refusal, set_up };
    struct Note {
        dissect::FrameIndex frame{};
        Subject subject{};
        std::uint32_t place = 0;  // of the finding, the episode, the refusal, the attempt
        std::uint32_t rung = 0;   // of the attempt
    };
    void note(dissect::FrameIndex frame, Subject subject, std::size_t place, std::size_t rung = 0);
    void add_recoveries();
    void add_attempts();
    void append_note(std::string& out, std::string& fields, const Note& note) const;
    void append_record(std::string& out, std::string& fields, const Observation& observation,
                       const PacketRecord& record) const;
    void append_messages(std::string& out, std::string& fields, const PacketRecord& record,
                         std::span<const Message> ended) const;

    const Timeline& timeline_;
    NoteScope scope_;
    std::vector<Note> notes_;  // by frame
    std::size_t next_ = 0;     // the first that was not passed
    std::string fields_;       // kept from one packet to the next
};

// What is said of the capture as a whole: its quality in numbers and the findings, for the comment of the section. At
// most `most` bytes, cut between lines.
[[nodiscard]] std::string section_text(const Timeline& timeline, std::size_t most);

}  // namespace qps::transport
