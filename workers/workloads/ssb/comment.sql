-- What was loaded, kept with the tables: a later trial on the same data verifies it without reading them.
COMMENT ON TABLE customer IS :'customer';
COMMENT ON TABLE supplier IS :'supplier';
COMMENT ON TABLE part IS :'part';
COMMENT ON TABLE date IS :'date';
COMMENT ON TABLE lineorder IS :'lineorder';
