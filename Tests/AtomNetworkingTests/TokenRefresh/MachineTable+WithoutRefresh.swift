extension MachineTable {
    /// No refresh is running.
    static let withoutRefresh = """
        loading, nobody has asked
          asked: wait, load 1 → loading, waiting: n
          asked with little time: wait, load 1 → loading, waiting: n
          asked with a stale read: read again → loading not started
          observed the same: nothing → a1 good
          observed a new one: nothing → a5 good
          observed what was written over: announce stale store → loading not started
          observed a spent one: announce stale store, announce changed, write again → storing
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed out: announce signed out → signed out
          looked up: nothing → a1 good
          looked up nothing: nothing → signed out
        loading, w waits
          asked: wait → loading, waiting: w n
          asked with little time: wait → loading, waiting: w n
          asked with a stale read: read again → loading, waiting: w
          w left: nothing → loading
          observed the same: release → a1 good, releasing, waiting: w
          observed a new one: release → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → loading, waiting: w
          observed a spent one: announce stale store, announce changed, write again → storing, waiting: w
          observed a later expiry: release → a1 good, releasing, waiting: w
          observed another refresh token: release → a1 good, releasing, waiting: w
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → a1 good
          signed out: refuse w: signed out, announce signed out → signed out
          loaded: release → a1 good, releasing, waiting: w
          loaded nothing: refuse w: missing → signed out
          loading failed: refuse w: not readable → loading not started
          looked up: release → a1 good, releasing, waiting: w
          looked up nothing: refuse w: missing → signed out
        good
          asked: go → a1 good
          asked with little time: go → a1 good
          asked with a stale read: go → a1 good
          signature: a1 → a1 good
          rejected: nothing → a1 rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → a1 good
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed an empty one: announce signed out → signed out
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: set a5 → storing
          signed out: announce signed out → signed out
        good, w is being released
          asked: wait → a2 good, releasing, waiting: w n
          asked with little time: wait → a2 good, releasing, waiting: w n
          asked with a stale read: read again → a2 good, releasing, waiting: w
          signature: a2 → a2 good, releasing, waiting: w
          rejected: nothing → a2 rejected, releasing, waiting: w
          w left: nothing → a2 good, releasing
          next released: w → a2 good, releasing
          observed a new one: announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → a2 good, releasing, waiting: w
          observed a spent one: announce stale store, announce changed, set a7 → storing, releasing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out, releasing
          signed in: refuse w: signed out, announce signed in → a5 good, releasing
          signed in with the same: refuse w: signed out, announce signed in → a2 good, releasing
          signed in for more: set a5 → storing, releasing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out, releasing
        in leeway
          asked: wait, refresh 1 with r1 for n, wake at 3590 → refreshing, waiting: n
          asked with little time: wait, refresh 1 with r1 for n, wake at 3582.5 → refreshing, waiting: n
          asked with a stale read: read again → a1 due
          signature: a1 → a1 due
          rejected: nothing → a1 rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → a1 due
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → a1 good
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: set a5 → storing
          signed out: announce signed out → signed out
        in leeway, a refresh has failed
          asked: go → a1 good
          asked with little time: go → a1 good
          asked with a stale read: go → a1 good
          signature: a1 → a1 good
          rejected: nothing → a1 rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → a1 good
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed an empty one: announce signed out → signed out
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: set a5 → storing
          signed out: announce signed out → signed out
        expired
          asked: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with little time: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with a stale read: read again → a1 expired
          rejected: nothing → a1 rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → a1 expired
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → a1 good
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: set a5 → storing
          signed out: announce signed out → signed out
        rejected
          asked: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with little time: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with a stale read: read again → a1 rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → a1 rejected
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed an empty one: announce signed out → signed out
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: set a5 → storing
          signed out: announce signed out → signed out
        """
}
