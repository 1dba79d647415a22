-- The rows of foo and grown as COPY writes them: the same on every server.
COPY (SELECT id, md5(id || '.1'), md5(id || '.2'), md5(id || '.3') FROM generate_series(1, :rows) AS id) TO STDOUT;
