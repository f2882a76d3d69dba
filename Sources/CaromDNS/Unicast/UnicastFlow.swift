/// One try to ask one server: a socket or a connection that serves no other.
package struct UnicastFlow: Hashable, Sendable {
  let number: UInt64
}
