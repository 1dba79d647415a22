-- [change]
UPDATE items SET part = part + 1, word = md5(word) WHERE id % 2 = 0;
DELETE FROM items WHERE id % 5 = 0;
INSERT INTO items VALUES (-1, 1, 'new');
-- [key]
ALTER TABLE items ADD PRIMARY KEY (id);
-- [some]
SELECT t::text FROM items AS t WHERE id BETWEEN 100 AND 300
-- [second table]
CREATE TABLE later (LIKE items);
INSERT INTO later SELECT * FROM items WHERE id <= 100;
-- [backup: target]
SELECT pg_create_restore_point('the_target') \g /dev/null
-- [backup: too late]
DELETE FROM items WHERE id % 3 = 0;
UPDATE items SET word = 'too late';
DROP TABLE later;
-- [backup: switch]
SELECT pg_walfile_name(pg_switch_wal());
-- [backup: archived]
SELECT last_archived_wal >= :'segment' FROM pg_stat_archiver;
-- [promoted]
SELECT NOT pg_is_in_recovery();
-- [promote]
SELECT pg_promote();
-- [write]
INSERT INTO items VALUES (-2, 2, 'afterwards');
UPDATE items SET word = 'promoted' WHERE id = 1;
-- [streaming]
SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming');
-- [wal]
SELECT pg_current_wal_lsn();
-- [replayed]
SELECT pg_last_wal_replay_lsn() >= :'lsn'::pg_lsn;
-- [vacuum]
VACUUM (FREEZE) items;
-- [logical: publish]
CREATE PUBLICATION everything FOR TABLE items;
SELECT pg_create_logical_replication_slot('capabilities', 'pgoutput') \g /dev/null
-- [logical: table]
CREATE TABLE items (id int PRIMARY KEY, part int NOT NULL, word text NOT NULL);
-- [logical: subscribe]
CREATE SUBSCRIPTION everything CONNECTION :'from' PUBLICATION everything
  WITH (create_slot = false, slot_name = 'capabilities');
-- [logical: copied]
SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel;
-- [logical: sent]
SELECT bool_and(confirmed_flush_lsn >= :'lsn'::pg_lsn) FROM pg_replication_slots WHERE slot_name = 'capabilities';
-- [logical: empty]
TRUNCATE items;
INSERT INTO items SELECT i, 0, 'again' FROM generate_series(1, 50) AS i;
-- [crash: open]
CREATE SEQUENCE open_transaction MINVALUE 0 START 0;
SELECT setval('open_transaction', 0) \g /dev/null
-- [crash: not committed]
BEGIN;
UPDATE items SET word = 'never committed' WHERE id % 4 = 0;
DELETE FROM items WHERE id % 7 = 0;
INSERT INTO items SELECT i, 0, 'never committed' FROM generate_series(1000001, 1000100) AS i;
SELECT setval('open_transaction', 1) \g /dev/null
SELECT pg_sleep(600);
-- [crash: is open]
SELECT last_value = 1 FROM open_transaction;
-- [crash: checkpoint]
CHECKPOINT;
-- [crash: committed]
UPDATE items SET part = part + 7 WHERE id % 4 = 1 AND id % 7 <> 0;
INSERT INTO items SELECT i, 1, 'committed' FROM generate_series(2000001, 2000050) AS i;
-- [crash: afterwards]
UPDATE items SET word = 'recovered' WHERE id % 4 = 0;
