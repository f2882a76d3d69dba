/// An endpoint and, if a proxy is there, the bytes by which it finds the server.
package struct RoutedEndpoint: Hashable, Sendable {
  package let endpoint: Endpoint
  package let routing: DatagramRouting?

  package init(_ endpoint: Endpoint, routing: DatagramRouting? = nil) {
    self.endpoint = endpoint
    self.routing = routing
  }
}
