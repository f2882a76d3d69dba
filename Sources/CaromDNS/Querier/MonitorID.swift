/// Which monitoring of a service's strings.
package struct MonitorID: Hashable, Sendable {
  let number: UInt64
}
