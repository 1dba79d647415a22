-- Tests change, add and delete single values through the view of them; Teiten itself stores all of an attempt at once.
CREATE OR REPLACE FUNCTION tests_change_measurement() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    place integer;
    new_measure integer;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        SELECT array_position(stored.measures, measure.id) INTO STRICT place
        FROM results_attemptvalues AS stored
        JOIN results_measure AS measure ON (metric_id, node, label) = (OLD.metric_id, OLD.node, OLD.label)
        WHERE stored.attempt_id = OLD.attempt_id;
    END IF;
    IF TG_OP = 'DELETE' THEN
        UPDATE results_attemptvalues
        SET measures = measures[:place - 1] || measures[place + 1:], values = values[:place - 1] || values[place + 1:]
        WHERE attempt_id = OLD.attempt_id;
        DELETE FROM results_attemptvalues WHERE attempt_id = OLD.attempt_id AND measures = '{}';
        RETURN OLD;
    END IF;
    INSERT INTO results_measure (metric_id, node, label) VALUES (NEW.metric_id, NEW.node, NEW.label)
    ON CONFLICT (metric_id, node, label) DO UPDATE SET label = excluded.label
    RETURNING id INTO new_measure;
    IF TG_OP = 'UPDATE' THEN
        UPDATE results_attemptvalues SET measures[place] = new_measure, values[place] = NEW.value
        WHERE attempt_id = NEW.attempt_id;
    ELSE
        INSERT INTO results_attemptvalues (run_id, attempt_id, measures, values)
        VALUES (NEW.run_id, NEW.attempt_id, ARRAY[new_measure], ARRAY[NEW.value])
        ON CONFLICT (run_id, attempt_id) DO UPDATE
        SET measures = results_attemptvalues.measures || excluded.measures,
            values = results_attemptvalues.values || excluded.values;
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER tests_change_measurement INSTEAD OF INSERT OR UPDATE OR DELETE ON results_measurement
FOR EACH ROW EXECUTE FUNCTION tests_change_measurement();
