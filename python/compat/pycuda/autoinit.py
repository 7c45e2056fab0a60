"""Imported for its effect: the first device's context is this thread's."""
from tenfold.pycuda import driver

driver.init()
device = driver.Device(0)
context = device.make_context()
