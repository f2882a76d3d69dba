// `NetService` belongs to Foundation on Apple's platforms, and sources rely on that.
@_exported import Foundation
// The types that this module's interface mentions.
@_exported import struct CaromDNS.ServiceType
@_exported import enum CaromDNS.ServiceTypeError
@_exported import enum CaromProtocol.DisconnectReason
