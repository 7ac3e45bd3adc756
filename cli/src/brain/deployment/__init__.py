"""Setting up a brain whose servers run elsewhere: in containers, in a cluster, or managed by somebody else."""
