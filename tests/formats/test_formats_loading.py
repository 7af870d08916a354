import inspect
import subprocess
import sys

import pytest

from coherence.errors import ConfigError
from coherence.formats import FORMATS, Format, load


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_the_functions_of_the_protocol(name: str) -> None:
    module = load(name)
    for function in ("discover", "read"):
        wanted = list(inspect.signature(getattr(Format, function)).parameters)[1:]
        assert list(inspect.signature(getattr(module, function)).parameters) == wanted


def test_an_unknown_format_is_refused_with_the_known_names() -> None:
    with pytest.raises(ConfigError, match="'atlf' is not known; write one of harbor, atif, mini-swe-agent"):
        load("atlf")


def test_a_format_is_imported_only_when_asked_for() -> None:
    code = "import sys, coherence.formats; print('coherence.formats.harbor' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
