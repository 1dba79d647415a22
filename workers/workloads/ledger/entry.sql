\set number :number + 1
INSERT INTO ledger (start, client, number) VALUES (:start, :client_id, :number);
