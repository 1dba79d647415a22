SELECT 'began ' || extract(epoch FROM clock_timestamp());
VACUUM;
SELECT 'complete ' || extract(epoch FROM clock_timestamp());
