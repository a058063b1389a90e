"""What the papers print against the model; a folder for each paper."""

import os
from pathlib import Path

# S3 and S4: a machine of one domain. Relative, since commands on the pages name it.
ONE_SOCKET = Path(os.path.relpath(Path(__file__).with_name("machines") / "xeon-x5550-1s.toml"))
