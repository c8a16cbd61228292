"""The functions of MuJoCo's Python interface, by topic. `cardan.face` looks them up."""
