-- Gives the superuser the password in :file, and leaves no trace of it in the log or in statistics of statements.
SELECT set_config(name, value, false)
  FROM (VALUES ('log_statement', 'none'),
               ('log_min_duration_statement', '-1'),
               ('log_min_duration_sample', '-1'),
               ('log_transaction_sample_rate', '0'),
               ('log_min_error_statement', 'panic'),
               ('debug_print_parse', 'off'),
               ('debug_print_rewritten', 'off'),
               ('pg_stat_statements.track_utility', 'off'),
               -- what a plan may have switched off: the password must outlive the server's death as its file does
               ('synchronous_commit', 'on'),
               ('password_encryption', :'encryption')) AS wanted (name, value)
  JOIN pg_settings USING (name)
\g /dev/null
\setenv TEITEN_PASSWORD_FILE :file
\set password `cat "$TEITEN_PASSWORD_FILE"`
ALTER ROLE CURRENT_USER PASSWORD :'password';
