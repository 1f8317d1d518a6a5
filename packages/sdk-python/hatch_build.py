"""Refuses to build or install the package before its generated modules are there."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedModules(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        package = Path(self.root, "src/conversation_service")
        needed = ("models.py", "params.py", "generated/resources.py")
        if not all((package / name).exists() for name in needed):
            raise SystemExit(
                "The generated modules are missing: run `npm ci && npm run generate -- python` "
                "in the repository, then install the package again."
            )
