"""Static files under hashed names, module imports inside JavaScript included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Without this switch the imports between ES modules keep their plain names, and a browser
    mixes old and new files after an upgrade."""

    support_js_module_import_aggregation = True
    manifest_strict = True
