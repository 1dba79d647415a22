\set source random(1, 10000)
\set number 0
