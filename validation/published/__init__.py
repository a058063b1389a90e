"""What the papers print against the model; a folder for each paper."""

from pathlib import Path

ONE_SOCKET = Path(__file__).with_name("machines") / "xeon-x5550-1s.toml"  # S3 and S4: a machine of one domain
