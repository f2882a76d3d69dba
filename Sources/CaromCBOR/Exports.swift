@_exported import CaromCodec
