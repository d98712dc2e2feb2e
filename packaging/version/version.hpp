#pragma once
// Which build this is. Programs say it on --version, reports on what was tested where they say how they were made;
// all else has the number alone, so that the same capture gives the same output.

namespace qps {

// "0.2.0 (1a2b3c4d5e6f)", "0.2.0 (1a2b3c4d5e6f, modified)"; without the commit where it is unknown.
const char* version_text();

}  // namespace qps
