-- Nineteen texts that do not compress and one that is the same in every row.
\timing on
INSERT INTO :"table"
SELECT id, md5(id || '.1'), md5(id || '.2'), md5(id || '.3'), md5(id || '.4'), md5(id || '.5'), md5(id || '.6'),
       md5(id || '.7'), md5(id || '.8'), md5(id || '.9'), md5(id || '.10'), md5(id || '.11'), md5(id || '.12'),
       md5(id || '.13'), md5(id || '.14'), md5(id || '.15'), md5(id || '.16'), md5(id || '.17'), md5(id || '.18'),
       md5(id || '.19'), 'abcdefg'
  FROM generate_series(1, :wide_rows) AS id;
