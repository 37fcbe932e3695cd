"""Static files under hashed names, module imports inside JavaScript included."""

from collections.abc import Iterator
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Without this switch the imports between ES modules keep their plain names, and a browser
    mixes old and new files after an upgrade."""

    support_js_module_import_aggregation = True
    manifest_strict = True

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        """Leaves out the extensions that come with htmx and are loaded by no page of ours: they
        import by names that only a bundler resolves."""
        ours = {name: at for name, at in paths.items() if not name.startswith("django_htmx/ext/")}
        yield from super().post_process(ours, dry_run, **options)
