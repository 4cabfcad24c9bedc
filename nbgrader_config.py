"""nbgrader's configuration: a clone of this repository is an nbgrader course, and so is a folder with this file."""

from autograder.formats.nbgrader_course import configure

configure(get_config())  # type: ignore[name-defined]  # noqa: F821 (nbgrader defines it)
