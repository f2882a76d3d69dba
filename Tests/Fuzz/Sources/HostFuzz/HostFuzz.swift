import FuzzSupport

/// Runs the input as a script between a host and an initiator; see `HostScript`.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    _ = try HostScript.run(fuzzInput(data, count))
  } catch {
    fatalError("\(error)")
  }
  return 0
}
