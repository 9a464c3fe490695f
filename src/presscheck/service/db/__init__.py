"""The database: engine, migrations, ids, signatures, full text."""
