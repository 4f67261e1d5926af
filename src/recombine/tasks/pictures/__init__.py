"""Pictures that coordinates describe."""
