"""First loads: a whole store as files for ``neo4j-admin database import full``."""

from trivium.graph.bulk.export import ExportReport, export

__all__ = ["ExportReport", "export"]
