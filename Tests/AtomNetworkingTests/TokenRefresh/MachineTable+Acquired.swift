extension MachineTable {
    /// A credential can be got without a refresh token.
    static let acquired = """
        nothing, acquirable
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
        acquiring, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          w left: nothing → refreshing
          refresh succeeded: store a3 → storing, waiting: w
          refresh failed: refuse w: failed, announce: failed → backing off until 0
          refresh overdue: refuse w: failed, announce: failed → backing off until 0
          refresh rejected: refuse w: rejected, announce: rejected, announce ended: rejected → ended: rejected
          observed the same: release → a1 good, releasing, waiting: w
          observed a new one: release → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → refreshing, waiting: w
          observed a spent one: announce stale store, announce changed, write again → storing, waiting: w
          observed a later expiry: release → a1 good, releasing, waiting: w
          observed another refresh token: release → a1 good, releasing, waiting: w
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → a1 good
          signed out: refuse w: signed out, announce signed out → signed out
          the refresh found the same: stop, release → a1 good, releasing, waiting: w
          the refresh found a newer one: stop, release → a5 good, releasing, waiting: w
          the refresh found nothing: go on with nothing → refreshing, waiting: w
          the refresh found what was written over: go on with nothing, announce stale store → refreshing, waiting: w
          the refresh found a later expiry: stop, release → a1 good, releasing, waiting: w
          refresh abandoned: refresh 2 with nothing for w → refreshing, waiting: w
        acquiring failed, backing off until 10
          asked: wait, wake at 10 → backing off until 10, waiting: n
          asked with little time: refuse: failed → backing off until 10
          asked with a stale read: read again → backing off until 10
          observed the same: nothing → a1 good
          observed a new one: nothing → a5 good
          observed what was written over: announce stale store → backing off until 10
          observed a spent one: announce stale store, announce changed, write again → storing
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed out: announce signed out → signed out
          looked up: nothing → a1 good
        acquiring ended
          asked: wait, load 2 → loading unless rejected, waiting: n
          asked with little time: wait, load 2 → loading unless rejected, waiting: n
          asked with a stale read: read again → ended: rejected
          observed the same: nothing → a1 good
          observed a new one: nothing → a5 good
          observed what was written over: announce stale store → ended: rejected
          observed a spent one: announce stale store, announce changed, write again → storing
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed out: announce signed out → signed out
          looked up: nothing → a1 good
        acquired, in leeway
          asked: wait, refresh 1 with  for n, wake at 3590 → refreshing, waiting: n
          asked with little time: wait, refresh 1 with  for n, wake at 3582.5 → refreshing, waiting: n
          asked with a stale read: read again → a1 due
          signature: a1 → a1 due
          rejected: nothing → a1 rejected
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → a1 due
          observed a spent one: announce stale store, announce changed, write again → storing
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → a1 good
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → a1 good
          signed in for more: nothing → storing
          signed out: announce signed out → signed out
        acquiring instead of a rejected one, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          w left: nothing → refreshing
          refresh succeeded: store a3 → storing, waiting: w
          refresh failed: refuse w: failed, announce: failed → backing off until 0
          refresh overdue: refuse w: failed, announce: failed → backing off until 0
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
          the refresh found the same: go on with  → refreshing, waiting: w
          the refresh found a newer one: stop, release, announce changed → a5 good, releasing, waiting: w
          the refresh found nothing: stop, refuse w: signed out, announce signed out → signed out
          the refresh found what was written over: go on with , announce stale store → refreshing, waiting: w
          the refresh found a later expiry: go on with  → refreshing, waiting: w
          refresh abandoned: refresh 2 with  for w → refreshing, waiting: w
        a client's own session, refreshing when rejected, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          w left: nothing → refreshing
          refresh succeeded: store a3 → storing, waiting: w
          refresh failed: refuse w: failed, announce: failed → backing off until 0
          refresh overdue: refuse w: failed, announce: failed → backing off until 0
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
          the refresh found the same: go on with  → refreshing, waiting: w
          the refresh found a newer one: stop, release, announce changed → a5 good, releasing, waiting: w
          the refresh found nothing: go on with  → refreshing, waiting: w
          the refresh found what was written over: go on with , announce stale store → refreshing, waiting: w
          the refresh found a later expiry: go on with  → refreshing, waiting: w
          refresh abandoned: refresh 2 with  for w → refreshing, waiting: w
        """
}
