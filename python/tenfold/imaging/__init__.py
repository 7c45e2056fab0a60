"""Pictures and volumes of any size. `tenfold.imaging.files` reads and writes them."""
