"""Adapters to other libraries, each a module that needs its library; `smear_env` itself imports none of them."""
