@_exported import CaromCore
@_exported import CaromPhysics
@_exported import CaromSimulation
