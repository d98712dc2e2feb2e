#!/bin/bash
# What qpscope is made of, as SPDX 2.3: sbom.sh > packaging/sbom.spdx.json
#
# From the list of packages (packages.sh): what a build of the programs needs. A test compares the file with what this prints.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=packaging/packages.sh
. "$here/packages.sh"
version=$(sed -n 's/^project(qpscope VERSION \([0-9.]*\).*/\1/p' "$here/../CMakeLists.txt")
# Of the newest release; what is not released yet has no date.
date=$(sed -n 's/^## [0-9][0-9.]* (\([0-9-]*\))$/\1/p' "$here/../CHANGELOG.md" | head -n 1)
[[ -n $version && -n $date ]] || { echo "sbom.sh: CMakeLists.txt names no version, or CHANGELOG.md no release" >&2; exit 1; }

# Licences of what is linked, by Debian package; tools that only build are none of it.
declare -A licences=(
    [libboost1.81-dev]=BSL-1.0 [libfmt-dev]=MIT [libcli11-dev]=BSD-3-Clause [nlohmann-json3-dev]=MIT [libisal-dev]=BSD-3-Clause
    [libpcap-dev]=BSD-3-Clause [libre2-dev]=BSD-3-Clause [libssl-dev]=Apache-2.0 [libseccomp-dev]=LGPL-2.1-only [libsqlite3-dev]=blessing [zlib1g-dev]=Zlib
    [libzstd-dev]='BSD-3-Clause OR GPL-2.0-only' [qt6-base-dev]='LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only'
    [qt6-svg-dev]='LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only' [libibverbs-dev]='GPL-2.0-only OR Linux-OpenIB'
    [librdmacm-dev]='GPL-2.0-only OR Linux-OpenIB' [libxdp-dev]='LGPL-2.1-only OR BSD-2-Clause'
)
packages='' relations=''
while read -r purpose package why; do
    [[ $purpose == build || $purpose == window || $purpose == agent ]] || continue
    package=${package##*|}  # of alternatives that of Debian 12
    [[ $package == *-dev ]] || continue
    licence=${licences[$package]:-}
    [[ -n $licence ]] || { echo "sbom.sh: $package has no licence here" >&2; exit 1; }
    packages+=",
    {
      \"SPDXID\": \"SPDXRef-$package\",
      \"name\": \"$package\",
      \"versionInfo\": \"of Debian 12\",
      \"downloadLocation\": \"https://packages.debian.org/bookworm/$package\",
      \"licenseConcluded\": \"$licence\",
      \"licenseDeclared\": \"$licence\",
      \"copyrightText\": \"NOASSERTION\",
      \"comment\": \"$why\",
      \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"pkg:deb/debian/$package?distro=bookworm\"}]
    }"
    relations+=",
    {\"spdxElementId\": \"SPDXRef-qpscope\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": \"SPDXRef-$package\"}"
done <<<"$qpscope_packages"
cat <<JSON
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "qpscope-$version",
  "documentNamespace": "https://qpscope.org/spdx/qpscope-$version",
  "creationInfo": {"created": "${date}T00:00:00Z", "creators": ["Tool: packaging/sbom.sh"]},
  "packages": [
    {
      "SPDXID": "SPDXRef-qpscope",
      "name": "qpscope",
      "versionInfo": "$version",
      "downloadLocation": "NOASSERTION",
      "licenseConcluded": "Apache-2.0",
      "licenseDeclared": "Apache-2.0",
      "copyrightText": "NOASSERTION"
    }$packages
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-qpscope"}$relations
  ]
}
JSON
