"""The software bill of materials: what comes with nldd and all its extras, as CycloneDX.

It lies beside the wheel and not in it: it names the wheel by its hash, and a wheel that bundles no
other software has none to declare. What a user gets is decided when it is installed.
"""

import platform
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZipFile

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from dependencies import EXTRAS, Dependency, pins, requirements, run_time_dependencies

# The data inside: what each is and who made it; docs/licences.md says more.
DATA = {
    "yeast.csv.gz": "2417 genes of yeast (Elisseeff and Weston 2001); the file of river 0.26.1",
    "survey.csv.gz": "1500 synthetic answers to a survey, written for nldd",
}
LICENCE = "BSD-3-Clause"


def write_sbom(wheel: Path, epoch: int) -> Path:
    """Write the bill of materials of a wheel beside it, checked against the schema."""
    text = render(wheel, run_time_dependencies(), datetime.fromtimestamp(epoch, UTC))
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"The bill of materials is no CycloneDX 1.6: {error}")
    name, version = wheel.name.split("-")[:2]
    path = wheel.with_name(f"{name}-{version}.cdx.json")
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
    return path


def render(wheel: Path, found: dict[str, Dependency], time: datetime) -> str:
    """The bill as JSON: of equal wheels, dependencies and times, equal text."""
    check_pins(found)
    ours = _own_component(wheel)
    parts = {name: _component(dependency) for name, dependency in found.items()}
    system = Property(
        name="nldd:resolved-for",
        value=f"{platform.system()}, Python {sys.version_info.major}.{sys.version_info.minor}",
    )
    stated = [(each.name, each.version, each.licence) for each in found.values()]
    serial = uuid5(NAMESPACE_URL, f"{sha256(wheel.read_bytes()).hexdigest()} {stated} {time}")
    metadata = BomMetaData(component=ours, timestamp=time, properties=[system])
    bom = Bom(serial_number=serial, metadata=metadata, components=parts.values())
    direct = {name for name, _ in requirements("nldd", EXTRAS)} - {"nldd"}
    bom.register_dependency(ours, [parts[name] for name in sorted(direct)])
    for name, component in parts.items():
        bom.register_dependency(component, [parts[need] for need in found[name].needs])
    return str(JsonV1Dot6(bom).output_as_string(indent=2))


def check_pins(found: dict[str, Dependency]) -> None:
    """An error if a version differs from the one that the tests run with."""
    pinned = pins()
    others = {name: d.version for name, d in found.items() if pinned.get(name) != d.version}
    if others:
        raise ValueError(
            f"The bill states versions as tested, but these differ from constraints/newest.txt or "
            f"are not in it: {others}. Make the environment anew, or pin what passes."
        )


def _own_component(wheel: Path) -> Component:
    name, version = wheel.name.split("-")[:2]
    with ZipFile(wheel) as archive:
        data = [
            Component(
                name=file,
                type=ComponentType.DATA,
                bom_ref=f"nldd/embedded/{file}",
                description=about,
                hashes=_hashes(archive.read(f"nldd/embedded/{file}")),
                licenses=_licences(LICENCE),
            )
            for file, about in DATA.items()
        ]
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"pkg:pypi/{name}@{version}",
        purl=PackageURL("pypi", name=name, version=version),
        hashes=_hashes(wheel.read_bytes()),
        licenses=_licences(LICENCE),
        components=data,
    )


def _component(dependency: Dependency) -> Component:
    always = dependency.parts == {"nldd"}
    purl = PackageURL("pypi", name=dependency.name, version=dependency.version)
    extras = [Property(name="nldd:extra", value=part) for part in sorted(dependency.parts)]
    return Component(
        name=dependency.name,
        version=dependency.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        description=dependency.summary or None,
        scope=ComponentScope.REQUIRED if always else ComponentScope.OPTIONAL,
        licenses=_licences(dependency.licence),
        properties=[] if always else extras,
    )


def _hashes(content: bytes) -> list[HashType]:
    return [HashType(alg=HashAlgorithm.SHA_256, content=sha256(content).hexdigest())]


def _licences(expression: str) -> list[License]:
    return [LicenseFactory().make_from_string(expression)]
