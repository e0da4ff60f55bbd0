extension MachineTable {
    /// A refresh has failed, or there is nothing to refresh.
    static let afterwards = """
        backing off until 10
          asked: wait, wake at 10 → backing off until 10, waiting: n
          asked with little time: refuse: failed → backing off until 10
          asked with a stale read: read again → backing off until 10
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → backing off until 10
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed an empty one: announce signed out → signed out
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: set a5 → storing
          signed out: announce signed out → signed out
        backing off until 10, w waits
          asked: wait, wake at 10 → backing off until 10, waiting: w n
          asked with little time: refuse: failed → backing off until 10, waiting: w
          asked with a stale read: read again → backing off until 10, waiting: w
          w left: nothing → backing off until 10
          woke up: wake at 10 → backing off until 10, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → backing off until 10, waiting: w
          observed a spent one: announce stale store, announce changed, set a7 → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → a1 good
          signed in for more: set a5 → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
        back-off is over, w waits
          asked: wait, refresh 2 with r1 for n → refreshing, waiting: w n
          asked with little time: wait, refresh 2 with r1 for n → refreshing, waiting: w n
          asked with a stale read: read again → backing off until 10, waiting: w
          w left: nothing → backing off until 10
          woke up: refresh 2 with r1 for w → refreshing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → backing off until 10, waiting: w
          observed a spent one: announce stale store, announce changed, set a7 → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → a1 good
          signed in for more: set a5 → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
        ended
          asked: refuse: rejected → ended: rejected
          asked with little time: refuse: rejected → ended: rejected
          asked with a stale read: read again → ended: rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → ended: rejected
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed an empty one: announce signed out → signed out
          observed another refresh token: nothing → a1 rejected
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: set a5 → storing
          signed out: announce signed out → signed out
        signed out
          asked: refuse: missing, announce stale store → signed out
          asked with little time: refuse: missing, announce stale store → signed out
          asked with a stale read: read again → signed out
          observed the same: announce stale store → signed out
          observed a new one: nothing → a5 good
          observed what was written over: announce stale store → signed out
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed out: announce signed out → signed out
        backing off for an overdue refresh, w waits
          asked: wait, wake at 10 → backing off until 10, waiting: w n
          asked with little time: refuse: failed → backing off until 10, waiting: w
          asked with a stale read: read again → backing off until 10, waiting: w
          w left: nothing → backing off until 10
          refresh succeeded: set a3 → storing, waiting: w
          woke up: wake at 10 → backing off until 10, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → backing off until 10, waiting: w
          observed a spent one: announce stale store, announce changed, set a7 → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → a1 good
          signed in for more: set a5 → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          the refresh token was replaced: write r9 → backing off until 10, waiting: w
          refresh abandoned: refresh 2 with r1 for w → refreshing, waiting: w
        """
}
