"""Every cap that several rooms share, each with its reason. A room's own caps stand in the room.

Source: domain §2, §4, §5, §6; reliability figures.
"""

# A run
MAX_BRANCHES = 8  # identity is the index 0–7
MAX_TEXT_IN_SPEC = 20_000  # a goal or a task brief a person wrote; longer belongs in a file
MAX_SPEC_BYTES = 1_000_000

# Tokens and wall clock per level: root, agent, subagent
TOKEN_CAP = {0: 200_000, 1: 80_000, 2: 30_000}
WALL_CLOCK_S = {0: 36_000, 1: 3_600, 2: 3_600}
MIN_TOKENS_TO_START = 4_000  # less than this buys no useful work

# Attempts
MAX_STARTS = 3  # a worker that died this often is `lost`
DEFAULT_CONTRACT_RETRIES = 1
MAX_CONTRACT_RETRIES = 3
MIN_SECONDS_FOR_RETRY = 30

# Leases, in seconds, on the database's clock
LEASE_S = 30
HEARTBEAT_S = 8  # three tries fit into one lease
SELF_FENCE_S = 20  # without a word from the database for so long, the owner stops by itself
STEP_DEADLINE_S = 900  # a loop that shows no progress for longer is hung, not slow
SWEEP_S = 1

# Stored text
OUTPUT_CHARS = 1_000_000
NOTES_CHARS = 20_000
ERROR_CHARS = 4_000
OBSERVATION_CHARS = 64_000
REASON_CHARS = 500
DELEGATION_REPLACEMENTS = 1  # a crashed node is replaced once
