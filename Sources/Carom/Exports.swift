@_exported import CaromCodec
@_exported import CaromCore
@_exported import CaromDiscovery
@_exported import CaromPhysics
@_exported import CaromProtocol
@_exported import CaromSession
@_exported import CaromSimulation
@_exported import CaromTransport
