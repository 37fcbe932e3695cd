"""What invented nodes are about."""

from verifier.lifecycle import NodeStatus

GOAL = (
    "Bring the customer portal to version 3.0: migrate the data layer, renew the public API, "
    "rewrite the guides, and prove each part by its own checks"
)

ROLES = ("research", "writing", "coding", "review", "testing", "migration", "security", "release")

TOPICS: dict[str, tuple[str, ...]] = {
    "docs": ("release notes", "install guide", "API reference", "glossary", "upgrade path"),
    "billing": ("invoice totals", "currency rounding", "refunds", "dunning letters", "tax rules"),
    "search": ("index layout", "ranking", "typo tolerance", "stop words", "latency budget"),
    "accounts": ("sign-in", "roles", "session expiry", "export of personal data", "audit trail"),
    "storage": ("schema migration", "backups", "retention", "bulk import", "attachments"),
    "api": ("pagination", "error shape", "rate limits", "webhooks", "client library"),
    "pages": ("keyboard use", "contrast", "empty states", "print layout", "slow networks"),
    "platform": ("health checks", "log format", "deploy script", "metrics", "cold start"),
}

TASKS = (
    "Read what is there about {subject}, list what differs from the agreed behaviour, and write "
    "the corrected text to notes/{slug}.md.",
    "Change the code for {subject} so that its tests pass; touch nothing outside its folder.",
    "Find every place that mentions {subject} and report file and line for each.",
    "Write a table of cases for {subject}, run it, and hand back what failed, word for word.",
)

REASONS: dict[NodeStatus, str] = {
    NodeStatus.CONTRACT_FAILED: "json: missing required keys: body",
    NodeStatus.TOOL_ERROR: "the worker crashed: connection reset while a tool was answering",
    NodeStatus.PROVIDER_ERROR: "the provider answered 529, overloaded, twice",
    NodeStatus.BUDGET: "31,200 tokens used of 30,000",
    NodeStatus.TIMEOUT: "it ran past its hard deadline and did not stop",
    NodeStatus.DENIED: "a subagent may not delegate",
    NodeStatus.CONCURRENCY_LIMIT: "4 of 4 places in use",
    NodeStatus.CANCELLED: "cancelled by the operator",
    NodeStatus.LOST: "its worker let the lease run out, 3 times",
}

OUTPUTS = (
    "The {subject} section is rewritten. Three statements were out of date; each now names the "
    "version since which it holds.",
    '{{"title": "{subject}", "body": "Checked against the running service; 14 of 14 cases hold."}}',
    "I found 9 places that mention {subject}: 6 are right, 2 name the old default, 1 is a dead "
    "link. All are listed with file and line.",
)

CLAIMED_WORK = "I wrote the corrected {subject} text to notes/{slug}.md and updated the index."
