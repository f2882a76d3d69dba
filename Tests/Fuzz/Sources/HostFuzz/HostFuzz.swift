import FuzzSupport

/// A host and a caller with a script of bytes between them; see `HostScript`.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    _ = try HostScript.run(fuzzInput(data, count))
  } catch {
    fatalError("\(error)")
  }
  return 0
}
