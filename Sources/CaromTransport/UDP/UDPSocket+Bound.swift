import CUVLoop
import CaromCore

extension UDPSocket {
  /// The addresses to which the UDP sockets of all processes on this host are bound at `port`, once
  /// for each socket; 0.0.0.0 and :: for wildcard sockets. Returns nil if the system does not
  /// provide the list. Call it on the loop's thread, since it reads that thread's network
  /// namespace.
  public static func addresses(boundTo port: UInt16) -> [IPAddress]? {
    var capacity = 64
    while true {
      var endpoints = [cuv_endpoint](repeating: cuv_endpoint(), count: capacity)
      let count = Int(unsafe cuv_udp_bound(port, &endpoints, capacity))
      if count < 0 { return nil }
      if count <= capacity { return endpoints.prefix(count).map { Endpoint($0).address } }
      capacity = count * 2
    }
  }
}
