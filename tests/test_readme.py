"""The README's Python examples run as they stand, and its two commands are what it says."""

import doctest
import re


def test_python_examples(repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (repository / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", None, 0)
    result = doctest.DocTestRunner(optionflags=flags).run(examples)
    assert result.attempted >= 10
    assert result.failed == 0
    assert (tmp_path / "fleet.html").stat().st_size > 10_000


def test_first_two_commands_install_run_the_demo_and_the_tests(repository):
    text = (repository / "README.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)[:2]
    assert "ensctl demo" in first
    assert "pytest" in second
    assert text.index("<!-- test-command -->") < text.index(second)


def test_pictures_exist(repository):
    text = (repository / "README.md").read_text(encoding="utf-8")
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (repository / picture).is_file(), picture
