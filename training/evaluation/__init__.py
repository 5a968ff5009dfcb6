"""How strong an agent is: deals, shards, processes, outsiders and figures behind `training.evaluate`."""
