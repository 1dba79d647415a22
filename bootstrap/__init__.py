"""Brings Teiten up from nothing on one machine: `make demo` and `make test`.

The standard library only, and no import of results, workers or webapp: what they need to know they read from
environment variables, what is asked of them goes through manage.py.

    places → account, ports, processes → servers (warehouse, queue, sshd) → services → tests, clean
                                                                                     → supervisor → demo
"""
