# What every test finds in its environment, on every machine and for every user: plain English, UTC, one family of fonts. A test of
# something else sets that itself; tests/rules/surroundings.sh runs without all of this.
set(ENV{LC_ALL} C.UTF-8)
unset(ENV{LANGUAGE})
set(ENV{TZ} UTC)
set(ENV{FONTCONFIG_FILE} ${CMAKE_CURRENT_LIST_DIR}/fonts.conf)
