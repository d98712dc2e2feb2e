// Captures of NVMe over RDMA that break its rules, each in one place: set-up, Connect, capsules, descriptors, data,
// responses, limits.
#include <tests/conformance/nvme_scenes.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

using Settings = NvmeDialogue::Settings;
constexpr std::uint16_t kCid = 7;
constexpr std::size_t kDescriptorAt = 24;  // of an entry: its descriptor
constexpr NvmeKey kOther{0x7f0000009000, 0x5678};

void read_io(NvmeDialogue& d, std::uint16_t cid = kCid, NvmeKey key = kNvmeMemory) {
    d.host(nvme_blocks_entry(2, cid, 0, 4, key));
    d.write({key, 0, 2048});
    d.respond(cid);
}
void write_io(NvmeDialogue& d, std::uint16_t cid = kCid, NvmeKey key = kNvmeMemory) {
    d.host(nvme_blocks_entry(1, cid, 0, 4, key));
    d.read({key, 0, 2048});
    d.respond(cid);
}
void identify_in_full(NvmeDialogue& d, std::uint16_t cid = kCid) {
    d.host(admin_entry(0x06, cid, 4096, 1));
    Capsule data(4096);
    data[1792] = std::byte{12};  // 192 bytes
    d.write({kNvmeMemory, 0, 4096}, data);
    d.respond(cid);
}
void go_on_twice(NvmeDialogue& d) {
    go_on(d, 0x70);
    go_on(d, 0x71);
}

RecordedCapture healthy_nvme() {
    return nvme_scene([](NvmeDialogue& d) {
        play_admin(d);
        d.host(property_entry(false, 2, 0x1c, false));
        d.respond(2, 0, 1);
        d.host(property_entry(false, 3, 0x00, true));
        d.respond(3, 0, 0x2000000000ffU);
        identify_in_full(d);
        d.host(admin_entry(0x02, 4, 512, 127U << 16U | 2));
        d.write({kNvmeMemory, 0, 512});
        d.respond(4);
        go_on_twice(d);
        play_io(d);
        read_io(d);
        write_io(d);
        d.host(in_capsule(nvme_blocks_entry(1, 9, 0, 1), 128));
        d.respond(9);
        d.host(invalidating(nvme_blocks_entry(2, 10, 0, 4)));
        d.write({kNvmeMemory, 0, 2048});
        d.target(d.response(10), kNvmeMemory.key);
        go_on_twice(d);
    });
}
RecordedCapture nvme_rejected() {
    return nvme_scene([](NvmeDialogue& d) { d.set_up({.rejection = 6}); });
}
RecordedCapture nvme_refused() {
    return nvme_scene([](NvmeDialogue& d) {
        d.set_up({});
        d.host(connect_entry(0, 0));
        d.read({{}, 0, 1024});
        d.respond(0, 0x4182, 0x10100);
    });
}

std::function<void(RecordedCapture&)> replayed(NvmePlay play) {
    return [play = std::move(play)](RecordedCapture& capture) { capture = nvme_scene(play); };
}
// An admin queue with these settings.
std::function<void(RecordedCapture&)> asked_for(const Settings& settings) {
    return replayed([settings](NvmeDialogue& d) { play_connect(d, settings); });
}
std::function<void(RecordedCapture&)> set_up_alone(const Settings& settings) {
    return replayed([settings](NvmeDialogue& d) { d.set_up(settings); });
}
// Behind the start of an admin queue, or of one for I/O.
std::function<void(RecordedCapture&)> on_admin(NvmePlay play) {
    return replayed([play = std::move(play)](NvmeDialogue& d) {
        play_admin(d);
        play(d);
        go_on_twice(d);
    });
}
std::function<void(RecordedCapture&)> on_io(NvmePlay play) {
    return replayed([play = std::move(play)](NvmeDialogue& d) {
        play_io(d);
        play(d);
        go_on_twice(d);
    });
}
// A queue that begins with this Connect.
std::function<void(RecordedCapture&)> connect_alone(Capsule entry, std::uint64_t result = 5, std::uint32_t status = 0) {
    return replayed([=](NvmeDialogue& d) {
        d.set_up({});
        d.host(entry);
        const auto length = read_le<std::uint32_t>(entry, kDescriptorAt + 8) & 0xffffffU;
        if (length != 0) d.read({{}, 0, length}, true, nvme_connect_data("nqn.host", "nqn.subsystem"));
        d.respond(0, status, result);
    });
}
// The response to a Connect of an I/O queue.
std::function<void(RecordedCapture&)> io_connected(std::uint16_t queue, std::uint16_t id, std::uint64_t result) {
    return replayed([=](NvmeDialogue& d) {
        d.set_up({.queue = queue});
        d.host(connect_entry(0, queue));
        Capsule data = nvme_connect_data("nqn.host", "nqn.subsystem");
        data[16] = static_cast<std::byte>(id);
        data[17] = static_cast<std::byte>(id >> 8U);
        d.read({{}, 0, 1024}, true, data);
        d.respond(0, 0, result);
    });
}
// A command, and a response to it, if any.
std::function<void(NvmeDialogue&)> one_command(Capsule entry, bool answered = true) {
    return [=](NvmeDialogue& d) {
        d.host(entry);
        if (answered) d.respond(kCid);
    };
}
std::function<void(NvmeDialogue&)> refused_command(Capsule entry) {
    return [=](NvmeDialogue& d) {
        d.host(entry);
        d.respond(kCid, 0x400f);
    };
}
Capsule with_set(Capsule entry, std::size_t at, std::uint8_t value) {
    entry.at(at) = static_cast<std::byte>(value);
    return entry;
}
Capsule made_longer(Capsule entry, std::size_t length) {
    entry.resize(length);
    return entry;
}
// The response of a Flush, changed.
NvmePlay response_changed(const std::function<Capsule(Capsule)>& change) {
    return [change](NvmeDialogue& d) {
        d.host(nvme_entry(0, kCid, 0));
        d.target(change(d.response(kCid)));
    };
}
// So many Flushes, or Keep Alives, without a response.
NvmePlay flooded(std::size_t count) {
    return [count](NvmeDialogue& d) {
        for (std::size_t i = 0; i < count; ++i)
            d.host(nvme_entry(d.queue == 0 ? 0x18 : 0, static_cast<std::uint16_t>(0x100 + i), 0));
        for (std::size_t i = 0; i < count; ++i) d.respond(static_cast<std::uint16_t>(0x100 + i));
    };
}
std::function<void(RecordedCapture&)> on_small_queue(std::uint16_t receives, std::uint16_t sends, std::size_t count,
                                                     std::uint16_t queue = 1) {
    return replayed([=](NvmeDialogue& d) {
        play_connect(d, {.queue = queue,
                         .receives = receives,
                         .sends = sends,
                         .target_receives = static_cast<std::uint16_t>(sends + 1)});
        flooded(count)(d);
        go_on_twice(d);
    });
}

}  // namespace

PassiveMutants recorded_nvme_set_up_mutants() {
    return {
        {"NVME-01", "record format 1", healthy_nvme, asked_for({.record_format = 1})},
        {"NVME-01", "record format 0x100 of a queue for I/O", healthy_nvme,
         asked_for({.record_format = 0x100, .queue = 3})},
        {"NVME-02", "the last byte", healthy_nvme, asked_for({.reserved = 1})},
        {"NVME-02", "the last byte, of a queue for I/O", healthy_nvme, asked_for({.queue = 2, .reserved = 0x80})},
        {"NVME-03", "controller 1", healthy_nvme, asked_for({.controller = 1})},
        {"NVME-03", "any controller", healthy_nvme, asked_for({.controller = 0xffff})},
        {"NVME-04", "record format 1", healthy_nvme, asked_for({.target_format = 1})},
        {"NVME-04", "the last byte is set", healthy_nvme, asked_for({.target_reserved = 1})},
        {"NVME-05", "none", healthy_nvme, asked_for({.target_receives = 0})},
        {"NVME-05", "two more than the sends of the host", healthy_nvme, asked_for({.target_receives = 33 + 1})},
        {"NVME-06", "0 in place of 7", healthy_nvme, asked_for({.target_retries = 0})},
        {"NVME-06", "6 in place of 7", healthy_nvme, asked_for({.target_retries = 6})},
        {"NVME-07", "1", healthy_nvme, asked_for({.target_reads = 1})},
        {"NVME-07", "128", healthy_nvme, asked_for({.target_reads = 128})},
        {"NVME-08", "status 0", nvme_rejected, set_up_alone({.rejection = 0})},
        {"NVME-08", "status 10", nvme_rejected, set_up_alone({.rejection = 10})},
        {"NVME-08", "record format 1", nvme_rejected, set_up_alone({.rejection = 6, .rejection_format = 1})},
        {"NVME-09", "record format 1 is accepted", healthy_nvme, asked_for({.record_format = 1})},
        {"NVME-09", "record format 1 is rejected for its queue ID", nvme_rejected,
         set_up_alone({.record_format = 1, .rejection = 3})},
        {"NVME-09", "record format 0 is rejected for its record format", nvme_rejected, set_up_alone({.rejection = 2})},
        {"NVME-10", "one entry more", healthy_nvme, connect_alone(connect_entry(0, 0, 32))},
        {"NVME-10", "fewer entries", healthy_nvme, connect_alone(connect_entry(0, 0, 15))},
        {"NVME-11", "another queue for I/O", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({.queue = 1});
             d.host(connect_entry(0, 2));
         })},
        {"NVME-11", "queue 1 in place of the admin queue", healthy_nvme, connect_alone(connect_entry(0, 1))},
        {"NVME-12", "a Property Get", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({});
             d.host(property_entry(false, 0, 0, true));
         })},
        {"NVME-12", "a Read", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({.queue = 1});
             d.host(nvme_blocks_entry(2, 0, 0, 1));
         })},
        {"NVME-13", "a Property Get behind the Connect", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({});
             d.host(connect_entry(0, 0));
             d.host(property_entry(false, 1, 0, true));
             d.read({{}, 0, 1024});
             d.respond(0, 0, 5);
             d.respond(1);
             go_on_twice(d);
         })},
        {"NVME-13", "a Flush behind a Connect that failed", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({.queue = 1});
             d.host(connect_entry(0, 1));
             d.read({{}, 0, 1024});
             d.respond(0, 0x4182, 0x10100);
             d.host(nvme_entry(0, 1, 0));
         })},
        {"NVME-14", "on an admin queue", healthy_nvme, on_admin([](NvmeDialogue& d) { d.host(connect_entry(9, 0)); })},
        {"NVME-14", "on a queue for I/O", healthy_nvme, on_io([](NvmeDialogue& d) { d.host(connect_entry(9, 1)); })},
        {"NVME-15", "record format 1", healthy_nvme, connect_alone(with_set(connect_entry(0, 0), kArgumentsAt, 1))},
        {"NVME-15", "a queue of one entry", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({.sends = 0, .target_receives = 1});
             d.host(connect_entry(0, 0, 0));
         })},
        {"NVME-16", "512 bytes", healthy_nvme, connect_alone(with_set(connect_entry(0, 0), kDescriptorAt + 9, 2))},
        {"NVME-16", "none", healthy_nvme, connect_alone(with_set(connect_entry(0, 0), kDescriptorAt + 9, 0))},
        {"NVME-17", "any controller", healthy_nvme, io_connected(0, 0xffff, 0xffff)},
        {"NVME-17", "another on a queue for I/O", healthy_nvme, io_connected(1, 5, 6)},
        {"NVME-18", "an offset behind the entry", nvme_refused, connect_alone(connect_entry(0, 0), 64, 0x4182)},
        {"NVME-18", "an offset behind the data", nvme_refused, connect_alone(connect_entry(0, 0), 0x10400, 0x4182)},
        {"NVME-18", "neither entry nor data", nvme_refused, connect_alone(connect_entry(0, 0), 0x20010, 0x4182)},
    };
}

PassiveMutants recorded_nvme_capsule_mutants() {
    return {
        {"NVME-19", "a Connect with its data", healthy_nvme,
         connect_alone(made_longer(connect_entry(0, 0), 64 + 1024))},
        {"NVME-19", "a Keep Alive with 16 bytes more", healthy_nvme,
         on_admin(one_command(made_longer(nvme_entry(0x18, kCid, 0), 80)))},
        {"NVME-20", "a Connect with its data and a word more", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({.queue = 1});
             Capsule entry = made_longer(in_capsule(connect_entry(0, 1), 1024), 64 + 1028);
             entry[64 + 16] = std::byte{5};
             d.host(entry);
             d.respond(0, 0, 5);
         })},
        {"NVME-20", "a Connect with a word more", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({.queue = 1});
             d.host(made_longer(connect_entry(0, 1), 68));
         })},
        {"NVME-21", "four bytes more", healthy_nvme, replayed([](NvmeDialogue& d) {
             play_admin(d);
             identify_in_full(d);
             play_io(d);
             d.host(in_capsule(nvme_blocks_entry(1, kCid, 0, 1), 132));
             d.respond(kCid);
         })},
        {"NVME-21", "a command without data in a long capsule", healthy_nvme, replayed([](NvmeDialogue& d) {
             play_admin(d);
             identify_in_full(d);
             play_io(d);
             d.host(made_longer(nvme_entry(0, kCid, 0), 512));
             d.respond(kCid);
         })},
        {"NVME-22", "fewer bytes than the descriptor says", healthy_nvme,
         on_io(one_command(made_longer(in_capsule(nvme_blocks_entry(1, kCid, 0, 1), 512), 64 + 508)))},
        {"NVME-22", "an offset past the end", healthy_nvme,
         on_io(one_command(with_set(in_capsule(nvme_blocks_entry(1, kCid, 0, 1), 512), kDescriptorAt + 1, 2)))},
        {"NVME-22", "an offset that wraps", healthy_nvme, on_io([](NvmeDialogue& d) {
             Capsule entry = in_capsule(nvme_blocks_entry(1, kCid, 0, 1), 512);
             for (std::size_t i = 1; i < 8; ++i) entry[kDescriptorAt + i] = std::byte{0xff};
             d.host(entry);
             d.respond(kCid);
         })},
        {"NVME-23", "60 bytes", healthy_nvme, on_admin(one_command(made_longer(nvme_entry(0x18, kCid, 0), 60), false))},
        {"NVME-23", "none", healthy_nvme, on_io(one_command({}, false))},
        {"NVME-24", "20 bytes", healthy_nvme,
         on_io(response_changed([](const Capsule& r) { return made_longer(r, 20); }))},
        {"NVME-24", "12 bytes", healthy_nvme,
         on_io(response_changed([](const Capsule& r) { return made_longer(r, 12); }))},
        {"NVME-25", "a SEND with immediate", healthy_nvme,
         on_io([](NvmeDialogue& d) { d.host(nvme_entry(0, kCid, 0), 0x05); })},
        {"NVME-25", "a SEND with Invalidate", healthy_nvme,
         on_io([](NvmeDialogue& d) { d.host(nvme_entry(0, kCid, 0), 0x17); })},
        {"NVME-25", "a WRITE", healthy_nvme, on_io([](NvmeDialogue& d) { d.host_moves(false, kOther); })},
        {"NVME-25", "a READ", healthy_nvme, on_io([](NvmeDialogue& d) { d.host_moves(true, kOther); })},
        {"NVME-26", "a response with immediate", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_entry(0, kCid, 0));
             d.target_sends(d.response(kCid), 0x05);
         })},
        {"NVME-26", "a WRITE with immediate", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kCid, 0, 4));
             d.write({kNvmeMemory, 0, 2048}, {}, 0x0b);
             d.respond(kCid);
         })},
        {"NVME-26", "an ATOMIC", healthy_nvme, on_io([](NvmeDialogue& d) { d.atomic(false, kOther); })},
        {"NVME-27", "PRPs of a Read", healthy_nvme,
         on_io([](NvmeDialogue& d) { d.host(with_set(nvme_blocks_entry(2, kCid, 0, 4), 1, 0)); })},
        {"NVME-27", "the reserved kind, of Identify", healthy_nvme,
         on_admin(one_command(with_set(admin_entry(6, kCid, 4096, 0), 1, 0xc0), false))},
        {"NVME-28", "a data block by address", healthy_nvme,
         on_io(one_command(with_set(in_capsule(nvme_blocks_entry(1, kCid, 0, 1), 512), kDescriptorAt + 15, 0)))},
        {"NVME-28", "a keyed block of subtype 1", healthy_nvme,
         on_io(one_command(with_set(nvme_blocks_entry(2, kCid, 0, 4), kDescriptorAt + 15, 0x41), false))},
        {"NVME-28", "a data block of TCP", healthy_nvme,
         on_io(one_command(with_set(nvme_blocks_entry(1, kCid, 0, 4), kDescriptorAt + 15, 0x5a), false))},
        {"NVME-29", "bit 2", healthy_nvme, on_io(one_command(with_set(nvme_entry(0, kCid, 0), 1, 0x44)))},
        {"NVME-29", "bit 5 of a Keep Alive", healthy_nvme,
         on_admin(one_command(with_set(nvme_entry(0x18, kCid, 0), 1, 0x60)))},
        {"NVME-30", "2,048 bytes for Identify", healthy_nvme, on_admin(refused_command(admin_entry(6, kCid, 2048, 1)))},
        {"NVME-30", "a dword too few for a log page", healthy_nvme,
         on_admin(refused_command(admin_entry(2, kCid, 508, 127U << 16U | 2)))},
    };
}

PassiveMutants recorded_nvme_data_mutants() {
    return {
        {"NVME-31", "a WRITE to another key", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kCid, 0, 4));
             d.write({kOther, 0, 2048});
         })},
        {"NVME-31", "a WRITE past the end", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kCid, 0, 4));
             d.write({kNvmeMemory, 0, 2052});
         })},
        {"NVME-31", "a READ before the start", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(1, kCid, 0, 4));
             d.read({{kNvmeMemory.address - 4, kNvmeMemory.key}, 0, 512});
         })},
        {"NVME-32", "a Read's memory is read", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kCid, 0, 4));
             d.read({kNvmeMemory, 0, 2048});
         })},
        {"NVME-32", "a Write's memory is written", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(1, kCid, 0, 4));
             d.write({kNvmeMemory, 0, 512});
         })},
        {"NVME-33", "a Read without its last block", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kCid, 0, 4));
             d.write({kNvmeMemory, 0, 1536});
             d.respond(kCid);
         })},
        {"NVME-33", "Identify without data", healthy_nvme, on_admin(one_command(admin_entry(6, kCid, 4096, 1)))},
        {"NVME-34", "a Write without its last block", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(1, kCid, 0, 4));
             d.read({kNvmeMemory, 0, 1536});
             d.respond(kCid);
         })},
        {"NVME-34", "a Connect without its data", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({});
             d.host(connect_entry(0, 0));
             d.respond(0, 0, 5);
         })},
        {"NVME-35", "a WRITE behind the response", healthy_nvme, on_io([](NvmeDialogue& d) {
             read_io(d);
             d.write({kNvmeMemory, 1024, 1024});
         })},
        {"NVME-35", "a READ behind the response", healthy_nvme, on_io([](NvmeDialogue& d) {
             write_io(d);
             d.read({kNvmeMemory, 0, 512});
         })},
        {"NVME-36", "not asked for", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kCid, 0, 4));
             d.write({kNvmeMemory, 0, 2048});
             d.target(d.response(kCid), kNvmeMemory.key);
         })},
        {"NVME-36", "another key", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(invalidating(nvme_blocks_entry(2, kCid, 0, 4)));
             d.write({kNvmeMemory, 0, 2048});
             d.target(d.response(kCid), kOther.key);
         })},
        {"NVME-36", "of a command without memory", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_entry(0, kCid, 0));
             d.target(d.response(kCid), 0);
         })},
        {"NVME-37", "a success before the READ is answered", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(1, kCid, 0, 4));
             d.read({kNvmeMemory, 0, 2048}, false);
             d.respond(kCid);
             d.answer_read(Capsule(2048));
         })},
        {"NVME-37", "a failure before the second READ is answered", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(invalidating(nvme_blocks_entry(1, kCid, 0, 4)));
             d.read({kNvmeMemory, 0, 1024});
             d.read({kNvmeMemory, 1024, 1024}, false);
             d.target(d.response(kCid, 4), kNvmeMemory.key);
             d.answer_read(Capsule(1024));
         })},
    };
}

PassiveMutants recorded_nvme_response_mutants() {
    const auto set_head = [](std::uint16_t more) {
        return [more](Capsule r) {
            put(r, 8, kind::nvme_completion, "nvme.cqe.sqhd", read_le<std::uint16_t>(r, 8) + more);
            return r;
        };
    };
    return {
        {"NVME-38", "the ID of no command", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_entry(0, kCid, 0));
             d.respond(kCid + 1);
         })},
        {"NVME-38", "out of nothing", healthy_nvme, on_admin([](NvmeDialogue& d) { d.target(nvme_response(0x444)); })},
        {"NVME-39", "at once", healthy_nvme, on_io([](NvmeDialogue& d) {
             read_io(d);
             d.target(nvme_response(kCid));
         })},
        {"NVME-39", "behind others", healthy_nvme, on_io([](NvmeDialogue& d) {
             write_io(d);
             read_io(d, 9);
             read_io(d, 10);
             d.target(nvme_response(kCid));
         })},
        {"NVME-40", "the number of entries", healthy_nvme,
         on_io(response_changed([](Capsule r) { return with_set(std::move(r), 8, 32); }))},
        {"NVME-40", "0xffff", healthy_nvme,
         on_io(response_changed([](Capsule r) { return with_set(with_set(std::move(r), 8, 0xff), 9, 0xff); }))},
        {"NVME-41", "one more", healthy_nvme, on_io(response_changed(set_head(1)))},
        {"NVME-41", "ten more", healthy_nvme, on_io(response_changed(set_head(10)))},
        {"NVME-42", "the next queue", healthy_nvme,
         on_io(response_changed([](Capsule r) { return with_set(std::move(r), 10, 2); }))},
        {"NVME-42", "queue 1 on the admin queue", healthy_nvme, on_admin([](NvmeDialogue& d) {
             d.host(nvme_entry(0x18, kCid, 0));
             d.target(with_set(d.response(kCid), 10, 1));
         })},
        {"NVME-43", "of a success", healthy_nvme,
         on_io(response_changed([](Capsule r) { return with_set(std::move(r), 14, 1); }))},
        {"NVME-43", "of a Connect", healthy_nvme, replayed([](NvmeDialogue& d) {
             d.set_up({});
             d.host(connect_entry(0, 0));
             d.read({{}, 0, 1024});
             d.target(with_set(d.response(0, 0, 5), 14, 1));
         })},
        {"NVME-44", "CSTS", healthy_nvme, on_admin([](NvmeDialogue& d) {
             d.host(property_entry(false, kCid, 0x1c, false));
             d.respond(kCid, 0, 0x100000001);
         })},
        {"NVME-44", "all bits of VS", healthy_nvme, on_admin([](NvmeDialogue& d) {
             d.host(property_entry(false, kCid, 0x08, false));
             d.respond(kCid, 0, 0xffffffff00010300);
         })},
        {"NVME-45", "five on a queue of five entries", healthy_nvme, on_small_queue(32, 4, 5)},
        {"NVME-45", "six without responses on a queue of four", healthy_nvme, on_small_queue(32, 3, 6)},
        {"NVME-46", "five where the host can take four", healthy_nvme, on_small_queue(4, 31, 5)},
        {"NVME-46", "twenty where it can take sixteen, of Keep Alives", healthy_nvme, on_small_queue(16, 31, 20, 0)},
        {"NVME-47", "two Flushes", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_entry(0, kCid, 0));
             d.host(nvme_entry(0, kCid, 0));
             d.respond(kCid);
             d.respond(kCid);
         })},
        {"NVME-47", "a Read and a Write, with others between", healthy_nvme, on_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kCid, 0, 4));
             go_on(d, 0x44);
             d.host(nvme_blocks_entry(1, kCid, 0, 4, kOther));
         })},
        {"NVME-48", "Get", healthy_nvme, on_io(one_command(property_entry(false, kCid, 0, true)))},
        {"NVME-48", "Set", healthy_nvme, on_io(one_command(property_entry(true, kCid, 0x14, false, 0)))},
        {"NVME-49", "Identify before it", healthy_nvme, replayed([](NvmeDialogue& d) {
             play_connect(d);
             identify_in_full(d);
         })},
        {"NVME-49", "Get Features behind a Set that does not", healthy_nvme, replayed([](NvmeDialogue& d) {
             play_connect(d);
             d.host(property_entry(true, 1, 0x14, false, 0x460000));
             d.respond(1);
             d.host(admin_entry(0x0a, 2, 0, 7));
         })},
        {"NVME-50", "4 bytes of CAP", healthy_nvme, on_admin(one_command(property_entry(false, kCid, 0, false)))},
        {"NVME-50", "8 bytes of CSTS", healthy_nvme, on_admin(one_command(property_entry(false, kCid, 0x1c, true)))},
        {"NVME-50", "CC is set with 8 bytes", healthy_nvme,
         on_admin(one_command(property_entry(true, kCid, 0x14, true, 1)))},
    };
}

}  // namespace qps::tests
