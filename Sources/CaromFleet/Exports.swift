@_exported import CaromPlacement
@_exported import CaromSession
