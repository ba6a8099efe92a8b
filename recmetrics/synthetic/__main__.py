"""`python -m recmetrics.synthetic sample_data` writes the generated samples into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from recmetrics.synthetic.files import write_samples


def main(arguments: list[str]) -> int:
    """Write the samples into the folder named by the only argument; 2 when it is not given."""
    if len(arguments) != 1:
        sys.stderr.write("Name the folder to write into: python -m recmetrics.synthetic sample_data\n")
        return 2
    for path in write_samples(Path(arguments[0])):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
