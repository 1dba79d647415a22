"""The API: serializer, view and filter of one resource together; `urls` is its map."""
