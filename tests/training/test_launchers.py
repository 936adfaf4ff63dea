"""The launchers that docs/training.md shows know the options that it gives them."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "training.md"


def test_the_launchers_of_the_page_know_its_options():
    from accelerate.commands.launch import launch_command_parser
    from torch.distributed.run import get_args_parser

    page = PAGE.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = re.findall(r"^(accelerate launch|torchrun) (.*)$", page, flags=re.MULTILINE)
    assert [launcher for launcher, _ in lines] == ["accelerate launch", "torchrun"] * 2  # one machine, two machines
    for launcher, words in lines:
        parser = launch_command_parser() if launcher == "accelerate launch" else get_args_parser()
        options = parser.parse_args(words.split())
        assert options.training_script == "training/train_impara.py"
        assert options.training_script_args == ["--m2", "mine.m2", "--output", "big-impara"]
