"""Descriptions beside the shipped ones that the published studies replay on."""

from validation.published import ONE_SOCKET

import homenode as hn


def test_one_socket_of_the_x5550_is_described_as_the_two_are() -> None:
    described = {one["path"]: one for one in hn.Machine.load(ONE_SOCKET).parameters}
    of_two = {one["path"]: one for one in hn.Machine.load("xeon-x5550-2s").parameters}
    missing = {path for path in set(of_two) - set(described) if not path.startswith("links.")}
    # A second node, which is as the first.
    assert all(".1." in path for path in missing), missing
    differing = [path for path, one in described.items() if one != of_two[path]]
    assert differing == ["sockets"]
