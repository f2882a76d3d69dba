@_exported import CaromCore
@_exported import CaromCrypto
@_exported import CaromProtocol
@_exported import CaromSimulation
@_exported import struct CaromTesting.LinkConditions
@_exported import struct CaromTesting.LinkProfile
@_exported import CaromTransport
