"""Enumerations of sensors: measured quantities, stages and data types (spec: Modeling, sensor)."""

from cardan.enums.base import MjEnum, numbers


class mjtSensor(MjEnum):
    """Sensor types (`sensor_type`)."""

    mjSENS_TOUCH = 0  # normal contact force in a site's volume (1)
    mjSENS_ACCELEROMETER = 1  # linear acceleration, gravity included, site frame (3)
    mjSENS_VELOCIMETER = 2  # linear velocity, site frame (3)
    mjSENS_GYRO = 3  # angular velocity, site frame (3)
    mjSENS_FORCE = 4  # force between a body and its parent, site frame (3)
    mjSENS_TORQUE = 5  # torque between a body and its parent, site frame (3)
    mjSENS_MAGNETOMETER = 6  # magnetic field, site frame (3)
    mjSENS_RANGEFINDER = 7  # distance to the surface along the site's z axis, -1 for none (1)
    mjSENS_CAMPROJECTION = 8  # image coordinates of a site, pixels (2)
    mjSENS_JOINTPOS = 9  # hinge or slide position (1)
    mjSENS_JOINTVEL = 10  # hinge or slide velocity (1)
    mjSENS_TENDONPOS = 11  # tendon length (1)
    mjSENS_TENDONVEL = 12  # tendon velocity (1)
    mjSENS_ACTUATORPOS = 13  # actuator length (1)
    mjSENS_ACTUATORVEL = 14  # actuator velocity (1)
    mjSENS_ACTUATORFRC = 15  # actuator force (1)
    mjSENS_JOINTACTFRC = 16  # total actuator force at a joint (1)
    mjSENS_BALLQUAT = numbers(17, 18)  # quaternion of a ball joint (4)
    mjSENS_BALLANGVEL = numbers(18, 19)  # angular velocity of a ball joint (3)
    mjSENS_JOINTLIMITPOS = numbers(19, 20)  # distance of a joint to its limit, less the margin (1)
    mjSENS_JOINTLIMITVEL = numbers(20, 21)  # velocity of that distance (1)
    mjSENS_JOINTLIMITFRC = numbers(21, 22)  # force of the limit (1)
    mjSENS_TENDONLIMITPOS = numbers(22, 23)  # distance of a tendon to its limit, less the margin (1)
    mjSENS_TENDONLIMITVEL = numbers(23, 24)  # velocity of that distance (1)
    mjSENS_TENDONLIMITFRC = numbers(24, 25)  # force of the limit (1)
    mjSENS_FRAMEPOS = numbers(25, 26)  # position of an object's frame (3)
    mjSENS_FRAMEQUAT = numbers(26, 27)  # orientation of an object's frame (4)
    mjSENS_FRAMEXAXIS = numbers(27, 28)  # x axis of an object's frame (3)
    mjSENS_FRAMEYAXIS = numbers(28, 29)  # y axis of an object's frame (3)
    mjSENS_FRAMEZAXIS = numbers(29, 30)  # z axis of an object's frame (3)
    mjSENS_FRAMELINVEL = numbers(30, 31)  # linear velocity of an object's frame (3)
    mjSENS_FRAMEANGVEL = numbers(31, 32)  # angular velocity of an object's frame (3)
    mjSENS_FRAMELINACC = numbers(32, 33)  # linear acceleration of an object's frame (3)
    mjSENS_FRAMEANGACC = numbers(33, 34)  # angular acceleration of an object's frame (3)
    mjSENS_SUBTREECOM = numbers(34, 35)  # centre of mass of a subtree (3)
    mjSENS_SUBTREELINVEL = numbers(35, 36)  # linear velocity of a subtree (3)
    mjSENS_SUBTREEANGMOM = numbers(36, 37)  # angular momentum of a subtree about its centre of mass (3)
    mjSENS_GEOMDIST = numbers(37, 39)  # signed distance between geoms or bodies (1)
    mjSENS_GEOMNORMAL = numbers(38, 40)  # direction from one geom to the other (3)
    mjSENS_GEOMFROMTO = numbers(39, 41)  # segment between the closest points (6)
    mjSENS_CLOCK = numbers(40, 45)  # simulation time, s (1)
    mjSENS_PLUGIN = numbers(41, 47)  # as a plugin says
    mjSENS_USER = numbers(42, 48)  # filled in by mjcb_sensor
    mjSENS_TENDONACTFRC = numbers(43, 17)  # total actuator force on a tendon (1)
    mjSENS_INSIDESITE = numbers(44, 38)  # whether an object is inside a site (1)
    mjSENS_CONTACT = numbers(45, 42)  # contacts that match conditions
    mjSENS_E_POTENTIAL = numbers(46, 43)  # potential energy (1)
    mjSENS_E_KINETIC = numbers(47, 44)  # kinetic energy (1)
    mjSENS_TACTILE = numbers(48, 46)  # depths and tangential speeds at the vertices of a mesh


class mjtStage(MjEnum):
    """Stage of the pipeline after which a quantity is known (`sensor_needstage`, skip arguments)."""

    mjSTAGE_NONE = 0
    mjSTAGE_POS = 1  # after all results that depend on positions
    mjSTAGE_VEL = 2  # after all results that depend on velocities
    mjSTAGE_ACC = 3  # after all results that depend on accelerations and forces


class mjtDataType(MjEnum):
    """Type of sensor output, which determines how cutoff and noise apply (`sensor_datatype`)."""

    mjDATATYPE_REAL = 0  # any number
    mjDATATYPE_POSITIVE = 1  # positive number, or inactive
    mjDATATYPE_AXIS = 2  # unit vector (3)
    mjDATATYPE_QUATERNION = 3  # unit quaternion (4)
