import CUVLoop
import CaromCore

extension Endpoint {
  /// The endpoint as the C layer represents it.
  var c: cuv_endpoint {
    switch address {
    case .v4(let value):
      cuv_endpoint(high: 0, low: UInt64(value), scope: 0, port: port, family: 4)
    case .v6(let high, let low, let scope):
      cuv_endpoint(high: high, low: low, scope: scope, port: port, family: 6)
    }
  }

  /// Creates an endpoint from the C layer's representation.
  init(_ c: cuv_endpoint) {
    self.init(
      c.family == 6
        ? .v6(high: c.high, low: c.low, scope: c.scope)
        : .v4(UInt32(truncatingIfNeeded: c.low)),
      port: c.port)
  }

  /// Returns the endpoint that `read` writes. Throws an error if `read` returns a negative status.
  static func reading(
    _ operation: StaticText, _ read: (inout cuv_endpoint) -> Int32
  ) throws(TransportError) -> Endpoint {
    var out = cuv_endpoint()
    try check(read(&out), operation)
    return Endpoint(out)
  }
}
