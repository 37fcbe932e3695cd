"""Words against receipts: who says it wrote a file must have written one."""

import time

import pytest

from verifier.mismatch import CLAIMS, claimed_write, receipt_mismatch
from verifier.outcome import Deliverable
from verifier.receipt import SideEffects

CLAIMING = [
    "I created the Makefile.",
    "I have written the documentation to docs/usage.md",
    "I wrote the user documentation in docs/usage.md.",
    "I've created `src/app.py` and added tests.",
    "We have updated README.md with the new options.",
    "I then saved the results to out/results.csv.",
    "Created docs/usage.md with one example per command.",
    "- Updated `notekeeper/cli.py` to accept --by",
    "Wrote 3 sections to docs/guide.md",
    "The file docs/usage.md has been created.",
    "docs/usage.md was updated with the new flags.",
    "The documentation is now written.",
    "All tests have been added.",
    "The report is complete and saved to out/report.md.",
    "Files changed: docs/usage.md",
    "**Files created:** `docs/usage.md`",
    "I read the parser and updated docs/parser.md.",
    "I have written docs/usage.md, but could not run the tests.",
    "I added a function that parses dates to the module.",
    "I could not find the old docs, so I wrote docs/usage.md from scratch.",
    "Successfully generated config/settings.toml",
    "✅ Created docs/usage.md",
    "I have fixed the bug in notekeeper/dates.py.",
    "I deleted the old config file.",
    "I've now moved the tests to tests/unit/test_dates.py",
    "I’ve written the docs.",
    "The new module was added under src/util.py",
    "I appended the entry to CHANGELOG.md",
    "I implemented the function in core/engine.rs",
    "Documentation saved as USAGE.md",
    "I have written the section on dates in README.md",
]
NOT_CLAIMING = [
    "I would write the documentation to docs/usage.md",
    "I will create docs/usage.md next.",
    "No files were changed.",
    "You should create docs/usage.md.",
    "I read README.md",
    "I have not written docs/usage.md.",
    "I haven't created any files.",
    "Nothing was written to docs/usage.md.",
    "I could not write docs/usage.md.",
    "I was unable to update README.md.",
    "I changed no files.",
    "The file docs/usage.md was not created.",
    "Should I have written docs/usage.md?",
    "I wrote a summary of the findings.",  # no file is its object
    "If I had written docs/usage.md, the build would pass.",
    "docs/usage.md was written by the previous maintainer.",
    "The module is written in Python.",
    "notekeeper/cli.py reads the option --by and ends with code 2.",
    "I'd update README.md first.",
    "I'll save it to out.txt",
    "Let me write the tests.",
    "The user created docs/usage.md yesterday.",
    "README.md was last updated in 2023.",  # somebody did, once
    "I wrote the release notes below.",  # they are in the answer
    "Please check that README.md is updated.",
    "To fix this, docs/usage.md must be updated.",
    "I updated my understanding of the problem.",
    "Added support for dark mode",  # a line of release notes
    "I created a plan with four steps.",
    "Two modules call parse_due.",
    "Tests should be added to tests/test_x.py.",
    "I failed to save out/report.md",
    "Neither README.md nor docs/usage.md was updated.",
    "I ran the linter; no code was modified.",  # the negation stands in its own clause
    "When config.json is created the server starts.",  # what happens, not what was done
    "I checked whether docs/usage.md was created.",
    "What I can say is that README.md explains it.",
    "The docs can be found at docs/usage.md",
    "I plan to add tests to tests/test_x.py",
    "You have written docs/usage.md well.",
    "I reviewed code and tests and found nothing to change.",
    "A file that was created in 2019 is docs/old.md",
    "I recommend that a file is created",
    "I have produced an analysis of the code.",
    "I created a summary of README.md",  # the file is its topic
    "I generated a list of functions",
    "I moved on to the tests.",
    "I wrote an answer about the tests.",
    "I added up the lines from src/a.py",
    "Have I written docs/usage.md?",
    "",
    "```\nI wrote docs/usage.md.\n```",  # quoted text claims nothing
    "~~~\nCreated docs/usage.md\n~~~",
    "I wrote docs/usage.md" + " and more" * 100,  # too long for a sentence: data
]
NOTHING_DONE = SideEffects(toolCalls=4, byName={"filesystem__read_file": 4})
SAID = "I have written the documentation to docs/usage.md."


@pytest.mark.parametrize("sentence", CLAIMING)
def test_a_claim_of_written_files_is_seen(sentence):
    assert claimed_write(sentence) == sentence
    assert claimed_write(f"I looked around first.\n\n{sentence}\nThat is all.") == sentence


@pytest.mark.parametrize("sentence", NOT_CLAIMING)
def test_no_claim_is_read_into_other_sentences(sentence):
    assert claimed_write(sentence) is None


@pytest.mark.parametrize("rule", CLAIMS, ids=lambda rule: rule.name)
def test_each_rule_sees_its_example_and_what_no_other_sees(rule):
    assert rule.pattern.search(rule.example)
    assert claimed_write(rule.example) == rule.example
    others = [other.pattern for other in CLAIMS if other is not rule]
    assert any(
        rule.pattern.search(said) and not any(other.search(said) for other in others)
        for said in CLAIMING
    )


@pytest.mark.parametrize(
    ("side_effects", "files_touched", "is_marked"),
    [
        (NOTHING_DONE, None, True),
        (NOTHING_DONE, 0, True),
        (SideEffects(), None, True),
        (NOTHING_DONE, 1, False),  # the workspace differs, whoever counted
        (SideEffects(filesChanged=1), None, False),
        (SideEffects(commandsRun=1), None, False),  # the command may have written it
        (SideEffects(filesChanged=1), 0, False),
        (SideEffects(toolErrors=3), 0, True),
        (None, None, False),  # unknown is no disagreement
        (None, 0, False),
    ],
)
def test_only_a_known_receipt_that_shows_nothing_disagrees(side_effects, files_touched, is_marked):
    mark = receipt_mismatch(Deliverable(output=SAID), side_effects, files_touched)
    assert (mark is not None) is is_marked


def test_the_mark_quotes_what_was_said():
    assert receipt_mismatch(Deliverable(output=SAID), NOTHING_DONE, 0) == (
        "It says “I have written the documentation to docs/usage.md.”, but its receipt shows no "
        "file changed and no command run."
    )


@pytest.mark.parametrize(
    "deliverable",
    [
        Deliverable(output="see notes", notes=SAID),
        Deliverable(notes=SAID),
        Deliverable(output={"title": "x", "steps": ["a", {"text": SAID}]}),
        Deliverable(output=[SAID]),
    ],
)
def test_it_is_looked_for_in_all_the_worker_said(deliverable):
    assert receipt_mismatch(deliverable, NOTHING_DONE, 0) is not None


def test_a_hostile_sentence_is_quoted_harmlessly():
    said = "I wrote \x1b[31m<script>\u202e to docs/usage.md " + "x" * 400
    mark = receipt_mismatch(Deliverable(output=said), NOTHING_DONE, 0)
    assert mark is not None
    assert "\x1b" not in mark
    assert "\u202e" not in mark
    assert len(mark) < 350


@pytest.mark.parametrize(
    "text",
    [
        ("a." * 299 + "\n") * 167,
        ("a-" * 299 + "\n") * 167,
        ("a/" * 290 + "\n") * 170,
        ("I a and " * 70 + "\n") * 170,
        ("I wrote " * 70 + ".\n") * 180,
        ("I wrote " + "in " * 190 + "\n") * 170,
        "```\n" * 25_000,
        "- " * 50_000,
        "x" * 50_000_000,
    ],
    ids=lambda text: text[:8],
)
def test_hostile_text_takes_no_time_to_speak_of(text):
    begun = time.process_time()
    claimed_write(text)
    assert time.process_time() - begun < 2


def test_a_structure_without_end_is_looked_at_within_bounds():
    begun = time.process_time()
    many = Deliverable.model_construct(output=["I wrote " * 70] * 5_000, notes=None)
    assert receipt_mismatch(many, NOTHING_DONE, 0) is None
    assert time.process_time() - begun < 2
