#!/bin/bash
# What cmake/hardening.cmake promises, read from programs:  hardening.sh PROGRAM...
#   FORTIFIED   ON: built with an optimiser, so that the C library checks lengths
#   CXX         a compiler, for the test of this test
# Prints PROGRAM: TEXT of everything that is missing; exit code 1 if anything is. readelf and objdump come with every compiler.
set -uo pipefail
export LC_ALL=C

missing_in() {  # PROGRAM: a line for everything that is missing
    local program=$1 headers dynamic symbols start
    headers=$(readelf -hlW "$program") dynamic=$(readelf -dW "$program") symbols=$(readelf -W --dyn-syms "$program")
    has() { grep -qE "$1" <<<"$2" || echo "$program: $3"; }
    has 'Type: +DYN' "$headers" 'is not position-independent'
    has '\(FLAGS_1\).* PIE' "$dynamic" 'is not a position-independent program'
    has 'GNU_RELRO' "$headers" 'relocations stay writable'
    has '\(FLAGS(_1)?\).* (BIND_)?NOW' "$dynamic" 'relocations are made while it runs'
    has 'GNU_STACK.* RW +0x' "$headers" 'the stack can be executed'
    has ' __stack_chk_fail(@| |$)' "$symbols" 'no stack protection'
    [[ ${FORTIFIED:-} != ON ]] || has ' __[a-z]+_chk(@| |$)' "$(grep -v __stack_chk <<<"$symbols")" 'lengths are not checked'
    [[ $(uname -m) == x86_64 ]] || return 0
    has endbr64 "$(objdump -d --disassemble=main "$program")" 'no landing pads'
    # The linker marks a program only if everything in it has them, also the start-up file of the C library.
    start=$("${CXX:-c++}" -print-file-name=Scrt1.o)
    readelf -nW "$start" | grep -q IBT || return 0
    has 'IBT, SHSTK' "$(readelf -nW "$program")" 'not marked for landing pads and shadow stacks'
}

# A program with nothing of all that must be found out in every point.
bare=$(mktemp -d)
trap 'rm -r "$bare"' EXIT
echo 'int main() { return 0; }' >"$bare/bare.cpp"
"${CXX:-c++}" -O1 -no-pie -fno-pie -fno-stack-protector -fcf-protection=none -U_FORTIFY_SOURCE -Wl,-z,norelro,-z,lazy,-z,execstack \
    -o "$bare/bare" "$bare/bare.cpp" || exit 1
found=$(FORTIFIED=ON missing_in "$bare/bare" | wc -l)
expected=7
[[ $(uname -m) != x86_64 ]] || expected=8
[[ $found -ge $expected ]] || { echo "$0: $found of $expected faults of a bare program were found"; exit 1; }

faults=$(for program in "$@"; do missing_in "$program"; done)
[[ -z $faults ]] || { echo "$faults"; exit 1; }
