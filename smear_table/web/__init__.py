"""The table in the browser: `python -m smear_table.web` serves it on this machine, with the extra `web`.

`tables` are the matches in play, `app` the pages and the socket, `guard` what is refused before either, `static` the
page.
"""
