@_exported import CaromCore
