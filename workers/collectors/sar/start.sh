# Waits for sar in the job's own session, so that a signal to the group ends sadc as well.
LC_ALL=C exec sar -o "$SAR_FILE" 1 >/dev/null
