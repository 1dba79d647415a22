"""sar: processors, memory, disks and network of each agent, once a second."""
