"""Models in a medium, with joints of all types: without collisions, so that they need nothing else."""

SHAPES = """
<mujoco>
  <option density="{density}" viscosity="{viscosity}" wind="{wind}" integrator="{integrator}" timestep="0.005"/>
  <default><geom contype="0" conaffinity="0" {shape}/></default>
  <worldbody>
    <body pos="0 0 3"><freejoint/>
      <geom size=".1"/><geom type="capsule" size=".1 .2" pos=".1 .2 .3" quat="1 .2 .3 .4" fluidcoef="1 2 3 .5 2"/>
      <body pos=".4 .3 0"><joint type="ball" damping=".3"/><geom type="box" size=".1 .2 .3"/>
        <body pos=".4 .3 0"><joint axis="1 2 3" name="hinge"/><joint type="slide" axis="1 -2 3" name="slide"/>
          <geom type="cylinder" size=".3 .1" quat="1 3 2 1"/>
          <geom type="ellipsoid" size=".3 .2 .25" pos="0 .3 .3"/></body></body>
    </body>
    <body pos="3 0 0"><joint axis="0 1 0" damping="1" name="arm"/>
      <geom type="ellipsoid" size=".3 .2 .25" pos="0 .3 .3" fluidshape="ellipsoid"/></body>
  </worldbody>
  <tendon><fixed name="t" damping=".5"><joint joint="hinge" coef="1"/><joint joint="slide" coef="-.5"/></fixed></tendon>
  <actuator>
    <velocity joint="arm" kv="3"/><position tendon="t" kp="2"/>
    <general joint="hinge" dyntype="filter" dynprm=".1" actlimited="true" actrange="-.5 .5"/>
    <general joint="slide" dyntype="filterexact" dynprm=".1" gainprm="3" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
  <sensor><jointpos joint="arm"/><jointvel joint="hinge"/><actuatorfrc actuator="arm"/><clock/></sensor>
</mujoco>
""".replace('<velocity joint="arm"', '<velocity name="arm" joint="arm"')

BOX, ELLIPSOID = "", 'fluidshape="ellipsoid"'
MEDIA = {
    "density": {"density": 1.2, "viscosity": 0, "wind": "0 0 0"},
    "viscosity": {"density": 0, "viscosity": 0.5, "wind": "0 0 0"},
    "water": {"density": 1000, "viscosity": 0.3, "wind": "1 2 3"},
}


def fluid_model(shape: str = ELLIPSOID, medium: str = "water", integrator: str = "implicit") -> str:
    """The model with a shape of the fluid forces, a medium and an integrator."""
    return SHAPES.format(shape=shape, integrator=integrator, **MEDIA[medium])
