"""Enumerations of sensors: measured quantities, stages and data types (spec: Modeling, sensor)."""

from cardan.enums.base import MjEnum


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
    mjSENS_BALLQUAT = 17  # quaternion of a ball joint (4)
    mjSENS_BALLANGVEL = 18  # angular velocity of a ball joint (3)
    mjSENS_JOINTLIMITPOS = 19  # distance of a joint to its limit, less the margin (1)
    mjSENS_JOINTLIMITVEL = 20  # velocity of that distance (1)
    mjSENS_JOINTLIMITFRC = 21  # force of the limit (1)
    mjSENS_TENDONLIMITPOS = 22  # distance of a tendon to its limit, less the margin (1)
    mjSENS_TENDONLIMITVEL = 23  # velocity of that distance (1)
    mjSENS_TENDONLIMITFRC = 24  # force of the limit (1)
    mjSENS_FRAMEPOS = 25  # position of an object's frame (3)
    mjSENS_FRAMEQUAT = 26  # orientation of an object's frame (4)
    mjSENS_FRAMEXAXIS = 27  # x axis of an object's frame (3)
    mjSENS_FRAMEYAXIS = 28  # y axis of an object's frame (3)
    mjSENS_FRAMEZAXIS = 29  # z axis of an object's frame (3)
    mjSENS_FRAMELINVEL = 30  # linear velocity of an object's frame (3)
    mjSENS_FRAMEANGVEL = 31  # angular velocity of an object's frame (3)
    mjSENS_FRAMELINACC = 32  # linear acceleration of an object's frame (3)
    mjSENS_FRAMEANGACC = 33  # angular acceleration of an object's frame (3)
    mjSENS_SUBTREECOM = 34  # centre of mass of a subtree (3)
    mjSENS_SUBTREELINVEL = 35  # linear velocity of a subtree (3)
    mjSENS_SUBTREEANGMOM = 36  # angular momentum of a subtree about its centre of mass (3)
    mjSENS_GEOMDIST = 37  # signed distance between geoms or bodies (1)
    mjSENS_GEOMNORMAL = 38  # direction from one geom to the other (3)
    mjSENS_GEOMFROMTO = 39  # segment between the closest points (6)
    mjSENS_CLOCK = 40  # simulation time, s (1)
    mjSENS_PLUGIN = 41  # as a plugin says
    mjSENS_USER = 42  # filled in by mjcb_sensor


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
