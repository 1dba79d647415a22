"""Which folders of an agent Teiten may use, and remove things from."""

from __future__ import annotations

import pytest

from results.domain.folders import problem_of_folder, problem_of_folders, problem_of_search


@pytest.mark.parametrize(
    "path",
    [
        *("/srv/teiten", "/srv/teiten/", "/home/bench", "/home/bench/data", "/root/teiten", "/var/lib/teiten"),
        *(
            "/var/lib/postgresql/teiten",
            "/mnt/ssd",
            "/opt/teiten",
            "/tmp/teiten",
            "/usr/local/pgsql",
            "/dev/shm/teiten",
        ),
        *("/data", "/run/teiten", "/usr/local/pgsql", "/libraries/teiten", "/srv/..data", "/srv/a b"),
    ],
)
def test_a_folder_of_its_own_is_teitens_to_use(path: str) -> None:
    assert problem_of_folder(path) == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        *((path, "the whole machine") for path in ("/", "//", "///")),
        *((path, "absolute") for path in ("", "srv/teiten", "~/teiten", ".")),
        *((path, "empty part") for path in ("/srv/../etc", "/srv/teiten/..", "/srv/./x", "//etc", "/srv//x", "/..")),
        *((path, "belongs to the system") for path in ("/etc", "/etc/", "/etc/teiten", "/usr", "/usr/lib/postgresql")),
        *((path, "belongs to the system") for path in ("/bin", "/sbin/x", "/boot", "/lib64/x", "/proc/1/cwd", "/sys")),
        *((path, "belongs to the system") for path in ("/dev", "/dev/sda", "/usr/localities", "/dev/shmem")),
        *((path, "all of the machine") for path in ("/home", "/home/", "/root", "/var", "/var/lib", "/tmp", "/opt")),
        *((path, "all of the machine") for path in ("/usr/local", "/dev/shm", "/srv", "/mnt", "/run", "/var/tmp")),
    ],
)
def test_a_folder_of_others_is_not(path: str, words: str) -> None:
    assert words in problem_of_folder(path)


def test_a_folder_lies_in_nothing_that_teiten_removes() -> None:
    home = {"data_dir": "/srv/teiten", "work_dir": "/srv/teiten/"}
    assert problem_of_folders(home) == {}
    assert problem_of_folders(home | {"ssd": "/srv/teiten/ssd"}) == {}
    assert set(problem_of_folders(home | {"ssd": "/srv/teiten/jobs/ssd"})) == {"ssd"}
    assert set(problem_of_folders({"data_dir": "/srv/work/jobs", "work_dir": "/srv/work"})) == {"data_dir"}
    assert set(problem_of_folders({"data_dir": "/srv/d", "work_dir": "/srv/d/clusters/w"})) == {"work_dir"}
    assert problem_of_folders({"data_dir": "/srv/d", "work_dir": "/srv/d/clusters-of-mine"}) == {}


@pytest.mark.parametrize("path", ["/usr/lib/postgresql", "/opt/pg", "/usr", "/home"])
def test_postgresql_may_be_looked_for_wherever_programs_are(path: str) -> None:
    assert problem_of_search(path) == ""


@pytest.mark.parametrize("path", ["/", "/opt/../etc", "/proc", "/proc/self", "/dev", "/sys/kernel", "opt"])
def test_postgresql_is_not_looked_for_in_the_whole_machine_nor_where_no_programs_are(path: str) -> None:
    assert problem_of_search(path) != ""
