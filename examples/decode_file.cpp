// Decodes a capture: a line for every packet.   decode_file FILE, or - for standard input
#include <dissect/capture/capture_file.hpp>
#include <dissect/packet/notation.hpp>

#include <iostream>

using namespace qps::dissect;

int main(int argc, char** argv) {
    auto file = CaptureFile::open(argc > 1 ? argv[1] : "-");
    if (!file) return std::cerr << file.error().file << ": " << file.error().sentence << '\n', 1;
    Batch batch;    // frames borrow its memory, or the mapped file: no copy is made
    Packet packet;  // where each layer lies; nothing is allocated for a packet
    while (file->read(batch))
        for (const Frame& frame : batch.frames) {
            decode(frame, packet);
            std::string line = std::to_string(static_cast<std::uint64_t>(frame.index)) + ' ';
            append_source(line, packet);
            append_destination(line += " > ", packet);
            append_line(line += ' ', packet);
            std::cout << line << '\n';
        }
    if (file->problem().kind != InputProblemKind::none) return std::cerr << file->problem().sentence << '\n', 1;
}
