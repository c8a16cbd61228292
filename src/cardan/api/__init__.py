"""The functions of MuJoCo's Python interface, by topic. `cardan.face` finds them."""
