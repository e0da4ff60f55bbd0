extension MachineTable {
    /// The session reads and writes a store.
    static let inStore = """
        good, in a store
          asked: go → a1 good
          asked with little time: go → a1 good
          asked with a stale read: go → a1 good
          signature: a1 → a1 good
          rejected: nothing → a1 rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → a1 good
          observed a spent one: announce stale store, announce changed, write again → storing
          observed an empty one: announce signed out → signed out
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: nothing → storing
          signed out: announce signed out → signed out
        refreshing in a store, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          w left: nothing → refreshing
          refresh succeeded: store a3 → storing, waiting: w
          refresh failed: refuse w: failed, announce: failed → backing off until 0
          refresh overdue: refuse w: failed, announce: failed → backing off until 10
          refresh rejected: refuse w: rejected, announce: rejected, announce ended: rejected → ended: rejected
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → refreshing, waiting: w
          observed a spent one: announce stale store, announce changed, write again → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed another refresh token: nothing → refreshing outdated, waiting: w
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → refreshing
          signed in for more: nothing → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          the refresh found the same: go on with r1 → refreshing, waiting: w
          the refresh found a newer one: stop, release, announce changed → a5 good, releasing, waiting: w
          the refresh found nothing: stop, refuse w: signed out, announce signed out → signed out
          the refresh found what was written over: go on with r1, announce stale store → refreshing, waiting: w
          the refresh token was replaced: write r9 → refreshing, waiting: w
          the refresh found a later expiry: go on with r1 → refreshing, waiting: w
          refresh abandoned: refresh 2 with r1 for w → refreshing, waiting: w
        storing in a store, w waits
          asked: wait → storing, waiting: w n
          asked with little time: wait → storing, waiting: w n
          asked with a stale read: read again → storing, waiting: w
          w left: nothing → storing
          stored: release, announce refreshed → a2 good, releasing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a spent one: announce changed, write again → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → storing
          signed in for more: nothing → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          not stored: release, announce not stored, announce refreshed → a2 good, releasing, waiting: w
        loading before the end, w waits
          asked: wait → loading unless missing, waiting: w n
          asked with little time: wait → loading unless missing, waiting: w n
          asked with a stale read: read again → loading unless missing, waiting: w
          w left: nothing → loading unless missing
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → loading unless missing, waiting: w
          observed a spent one: announce stale store, announce changed, write again → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → a1 good
          signed in for more: nothing → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          loaded: refresh 1 with r1 for w → refreshing, waiting: w
          loaded nothing: refuse w: signed out, announce signed out → signed out
          loading failed: refuse w: not readable → loading not started unless missing
          looked up: refresh 1 with r1 for w → refreshing, waiting: w
          looked up nothing: refuse w: signed out, announce signed out → signed out
        ended, in a store
          asked: wait, load 1 → loading unless rejected, waiting: n
          asked with little time: wait, load 1 → loading unless rejected, waiting: n
          asked with a stale read: read again → ended: rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → ended: rejected
          observed a spent one: announce stale store, announce changed, write again → storing
          observed an empty one: announce signed out → signed out
          observed another refresh token: nothing → a1 rejected
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: nothing → storing
          signed out: announce signed out → signed out
          looked up nothing: announce signed out → signed out
        loading after the end, w waits
          asked: wait → loading unless rejected, waiting: w n
          asked with little time: wait → loading unless rejected, waiting: w n
          asked with a stale read: read again → loading unless rejected, waiting: w
          w left: nothing → loading unless rejected
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → loading unless rejected, waiting: w
          observed a spent one: announce stale store, announce changed, write again → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → a1 good
          signed in for more: nothing → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          loaded: refuse w: rejected → ended: rejected
          loaded nothing: refuse w: signed out, announce signed out → signed out
          loading failed: refuse w: not readable → loading not started unless rejected
          looked up: refuse w: rejected → ended: rejected
          looked up nothing: refuse w: signed out, announce signed out → signed out
        signed out, in a store
          asked: wait, load 1 → loading, waiting: n
          asked with little time: wait, load 1 → loading, waiting: n
          asked with a stale read: read again → signed out
          observed the same: announce stale store → signed out
          observed a new one: nothing → a5 good
          observed what was written over: announce stale store → signed out
          observed a spent one: announce stale store, announce changed, write again → storing
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed out: announce signed out → signed out
          looked up: announce stale store → signed out
        """
}
