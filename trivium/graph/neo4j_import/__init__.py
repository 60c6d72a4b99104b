"""First loads: a whole store as files for ``neo4j-admin database import full``."""

from trivium.graph.neo4j_import.export import ExportReport, export

__all__ = ["ExportReport", "export"]
