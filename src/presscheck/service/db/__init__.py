"""The database: engine, migrations, ids, files, signatures, full text."""
