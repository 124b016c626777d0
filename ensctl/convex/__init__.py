from ensctl.convex.domains import Box, Discs, box, discs
from ensctl.convex.lq import LQ, lq
from ensctl.convex.newton_box import newton_box
from ensctl.convex.problem import *
from ensctl.convex.programs import *
from ensctl.convex.soft_box import soft_newton_box, soft_system
