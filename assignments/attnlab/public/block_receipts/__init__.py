"""The public checks of the notebook ``block_receipts``, one module per part."""
