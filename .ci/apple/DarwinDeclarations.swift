// What has another type in Darwin than in Glibc. The file is compiled with the
// SDK's own, because only a declaration of the same module hides that of Glibc,
// which Foundation brings along on Linux.

import Darwin

var S_IFMT: mode_t { 0xF000 }
var S_IFIFO: mode_t { 0x1000 }
var S_IFDIR: mode_t { 0x4000 }
var S_IFREG: mode_t { 0x8000 }
var S_IFLNK: mode_t { 0xA000 }
var S_IFSOCK: mode_t { 0xC000 }
var S_ISVTX: mode_t { 0x0200 }
var S_IWGRP: mode_t { 0x0010 }
var S_IWOTH: mode_t { 0x0002 }

func openat(_ descriptor: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { -1 }

@available(*, unavailable, message: "this is Glibc's")
func openat(_ descriptor: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: UInt32) -> Int32 { -1 }
