"""From the streams to the index: four projections, each with its own checkpoint, none of which calls the model."""
