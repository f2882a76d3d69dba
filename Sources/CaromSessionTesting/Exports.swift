@_exported import CaromCore
@_exported import CaromSession
@_exported import CaromTesting
@_exported import CaromTransport
