@_exported import CaromDiscovery
@_exported import CaromGroup
@_exported import CaromSession
