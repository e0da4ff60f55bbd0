// What of sockets has another type in Darwin than in Glibc, or is only in
// Darwin. The file is compiled with the libraries for tests and for signing in,
// for the reason that DarwinDeclarations.swift gives.

import Darwin

typealias nfds_t = UInt32

var SOCK_STREAM: Int32 { 1 }
var SO_NOSIGPIPE: Int32 { 0x1022 }
var RLIMIT_NOFILE: Int32 { 8 }

func getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<rlimit>) -> Int32 { -1 }
func setrlimit(_ resource: Int32, _ limit: UnsafePointer<rlimit>) -> Int32 { -1 }
func poll(_ entries: UnsafeMutablePointer<pollfd>, _ count: nfds_t, _ milliseconds: Int32) -> Int32 { -1 }
