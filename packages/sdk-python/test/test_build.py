"""The wheel has the generated modules, which git ignores, and is refused without them."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def build(package: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    return subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)


def test_a_wheel_needs_and_has_the_generated_modules(tmp_path: Path) -> None:
    package = tmp_path / "packages/sdk-python"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("dist"))
    # hatchling leaves out what git ignores.
    shutil.copy(PACKAGE.parents[1] / ".gitignore", tmp_path)
    (tmp_path / ".git").mkdir()
    assert build(package).returncode == 0
    (wheel,) = (package / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("models.py", "params.py", "generated/__init__.py", "generated/resources.py"):
        assert f"conversation_service/{name}" in names

    (package / "src/conversation_service/models.py").unlink()
    refused = build(package)
    assert refused.returncode != 0
    assert "run `npm ci && npm run generate -- python`" in refused.stderr
    assert "Traceback" not in refused.stderr
