"""Start Teiten from nothing on one machine: `make demo` and `make test`.

It uses the standard library only, and imports nothing of results, workers or webapp: these read environment variables,
and are called through manage.py.

    places → account, ports, processes → servers (warehouse, queue, sshd) → services → tests, clean
                                                                                     → supervisor → demo
"""
