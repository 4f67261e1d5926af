"""The machine: its processes and cores, devices, precision, compiled programs, and progress on its terminal."""
