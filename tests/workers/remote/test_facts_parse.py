from pathlib import Path

import pytest

from results.domain.environment.layers import LayerKind, flatten
from results.domain.errors import ParseError
from workers.remote.facts_parse import Facts, parse_facts

RECORDED = (Path(__file__).parents[2] / "data" / "facts" / "debian-12-virtual.txt").read_text()


def layer(facts: Facts, kind: LayerKind) -> dict[str, object]:
    return flatten(next(layer.content for layer in facts.layers if layer.kind == kind))


def test_a_virtual_machine_is_described():
    facts = parse_facts(RECORDED)
    hardware = layer(facts, LayerKind.HARDWARE)
    assert hardware["cpu.model"] == "AMD EPYC"
    assert (hardware["cpu.sockets"], hardware["cpu.cores_per_socket"], hardware["cpu.threads_per_core"]) == (1, 2, 1)
    assert hardware["caches.L3"] == "32 MiB (1 instance)"
    assert hardware["virtualisation.hypervisor"] == "KVM"
    assert hardware["numa_nodes"] == 1
    assert facts.memory_bytes == 24684092 * 1024
    assert facts.cores == 2
    assert not facts.root


def test_the_kernels_choices_and_sysctls_are_read():
    kernel = layer(parse_facts(RECORDED), LayerKind.KERNEL)
    assert kernel["transparent_hugepage"] == "madvise"
    assert kernel["distribution"] == "Debian GNU/Linux 12 (bookworm)"
    # the names hold dots of their own
    assert kernel["sysctl.vm.swappiness"] == "60"
    assert kernel["sysctl.kernel.numa_balancing"] == "0"


def test_the_data_directorys_disk_is_described():
    facts = parse_facts(RECORDED)
    storage = layer(facts, LayerKind.STORAGE)
    assert (storage["filesystem"], storage["device"], storage["scheduler"]) == ("ext4", "/dev/vda", "mq-deadline")
    assert storage["write_cache"] == "write back"
    assert facts.disk["total_bytes"] == storage["total_bytes"]
    assert 0 < facts.disk["free_bytes"] < facts.disk["total_bytes"]


def test_what_changes_by_itself_is_in_no_layer():
    later = RECORDED.replace("free_bytes ", "free_bytes 1")
    assert [layer.hash for layer in parse_facts(later).layers] == [layer.hash for layer in parse_facts(RECORDED).layers]
    assert parse_facts(later).disk["free_bytes"] != parse_facts(RECORDED).disk["free_bytes"]


def test_what_a_machine_does_not_tell_is_left_out():
    hardware = layer(parse_facts(RECORDED), LayerKind.HARDWARE)
    assert "cpu.governor" not in hardware
    assert "cpu.limit" not in hardware


def test_governor_and_limits_are_read_where_a_machine_tells_them():
    text = RECORDED.replace("governor ", "governor performance ").replace("cgroup_cpu ", "cgroup_cpu 150000 100000")
    text = text.replace("cgroup_memory ", "cgroup_memory max")
    hardware = layer(parse_facts(text), LayerKind.HARDWARE)
    assert hardware["cpu.governor"] == "performance"
    assert hardware["cpu.limit"] == "150000 100000"
    assert "memory.limit" not in hardware


def test_tools_have_path_and_version():
    assert parse_facts(RECORDED).tools["sar"] == "/usr/bin/sar sysstat version 12.6.1"


def test_a_tool_that_is_not_there_is_not_named():
    text = "\n".join(line for line in RECORDED.splitlines() if not line.startswith("perf "))
    assert "perf" not in parse_facts(text).tools


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'cpu' is missing"),
        ("motd\n" + RECORDED, "before the first section"),
        (RECORDED.replace("usable 2", "usable many"), "usable is not a number"),
        (RECORDED.replace("24684092 kB", "lots"), "Not a number of kB"),
    ],
)
def test_text_that_is_something_else_is_refused(text: str, words: str):
    with pytest.raises(ParseError, match=words):
        parse_facts(text)
