SELECT 'began ' || extract(epoch FROM clock_timestamp());
CHECKPOINT;
SELECT 'complete ' || extract(epoch FROM clock_timestamp());
