"""The command ``python -m torture``."""

import os
import sys

if __name__ == "__main__":  # else it is a worker of a load, which imports what it needs itself
    # Before numpy is imported: processes are forked here, and only one without threads can be forked.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from torture.command import main

    sys.exit(main())
