@_exported import CaromCore
@_exported import CaromDNS
@_exported import CaromTransport
