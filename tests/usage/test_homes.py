"""Tests of recollect.usage.homes."""

from recollect.usage.homes import Stay, find_homes


def test_the_home_is_what_the_project_is_named_after() -> None:
    """Work in other directories, however much, does not move a session."""
    stays = [Stay(1, "/w/app", 2), Stay(1, "/w/app/src", 90), Stay(1, "/tmp", 7)]
    assert find_homes({1: "-w-app"}, stays) == {1: "/w/app"}


def test_directories_that_look_alike_stay_apart() -> None:
    """Two directories with one encoded form are two projects, as far as their files tell."""
    stays = [Stay(1, "/w/my-app", 2), Stay(2, "/w/my/app", 5)]
    projects = dict.fromkeys((1, 2), "-w-my-app")
    assert find_homes(projects, stays) == {1: "/w/my-app", 2: "/w/my/app"}


def test_a_file_that_tells_nothing_goes_with_its_neighbours() -> None:
    """A subagent that worked elsewhere belongs to the project all the same."""
    stays = [Stay(1, "/w/app", 2), Stay(2, "/w/tree", 9)]
    projects = dict.fromkeys((1, 2, 3), "-w-app")
    assert find_homes(projects, stays) == dict.fromkeys((1, 2, 3), "/w/app")


def test_a_renamed_directory_goes_by_where_most_was_written() -> None:
    """When no work directory leads to the name, the most used one stands for it."""
    stays = [Stay(1, "/a", 2), Stay(2, "/b", 1), Stay(3, "/b", 2)]
    assert find_homes({1: "x", 2: "x", 3: "x", 4: "y"}, stays) == {
        1: "/b",
        2: "/b",
        3: "/b",
        4: "y",
    }


def test_long_names_of_either_era_are_known() -> None:
    """Old clients did not shorten the names of long directories."""
    long = "/" + "d" * 300
    assert find_homes({1: "-" + "d" * 300}, [Stay(1, long, 1)]) == {1: long}
