"""The first program of the guide. test/e2e/client-guides.deep.test.ts runs it with a local run."""

from __future__ import annotations

import re
from pathlib import Path

from mypy import api

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/guides/python-client.md").read_text()


def test_has_twelve_lines_that_a_type_checker_takes(tmp_path: Path) -> None:
    [program] = re.findall(r"^```python first\.py\n(.*?)^```$", PAGE, re.M | re.S)
    assert len(program.splitlines()) == 12
    file = tmp_path / "first.py"
    file.write_text(program)
    printed, _, code = api.run([str(file)])
    assert (code, printed) == (0, "Success: no issues found in 1 source file\n")
    file.write_text(program.replace("data.conversation_id", "data.conversationId"))
    printed, _, code = api.run([str(file)])
    assert code == 1
    assert 'has no attribute "conversationId"' in printed
