extension MachineTable {
    /// A credential can be had without a refresh token.
    static let acquired = """
        nothing, acquirable
          asked: wait, load 1 → loading, waiting: n
          asked with little time: wait, load 1 → loading, waiting: n
          asked with a stale read: read again → loading not started
          asked by an older generation: refuse: signed out → loading not started
          signature: none → loading not started
          signature of an older generation: outdated → loading not started
          accepted: nothing → loading not started
          rejected: nothing → loading not started
          rejected an older version: nothing → loading not started
          w left: nothing → loading not started
          next released: nobody → loading not started
          refresh succeeded: nothing → loading not started
          refresh failed: nothing → loading not started
          refresh rejected: nothing → loading not started
          another refresh succeeded: nothing → loading not started
          another refresh failed: nothing → loading not started
          another refresh rejected: nothing → loading not started
          stored: nothing → loading not started
          stored another: nothing → loading not started
          woke up: nothing → loading not started
          observed the same: nothing → a1 good
          observed a new one: nothing → a5 good
          observed a replaced one: nothing → loading not started
          observed an empty one: nothing → loading not started
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 good
          signed out: nothing → signed out
          loaded: nothing → loading not started
          loaded nothing: nothing → loading not started
          an older load ended: nothing → loading not started
          loading failed: nothing → loading not started
          looked up: nothing → a1 good
          looked up nothing: nothing → nothing held
          looked up in an older generation: nothing → loading not started
          the refresh found the same: stop → loading not started
          the refresh found a newer one: stop → loading not started
          the refresh found nothing: stop → loading not started
          the refresh found a replaced one: stop → loading not started
          the refresh found a later expiry: stop → loading not started
          another refresh found a newer one: stop → loading not started
          refresh abandoned: nothing → loading not started
          another refresh abandoned: nothing → loading not started
          not stored: nothing → loading not started
        acquiring, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          asked by an older generation: refuse: signed out → refreshing, waiting: w
          signature: none → refreshing, waiting: w
          signature of an older generation: outdated → refreshing, waiting: w
          accepted: nothing → refreshing, waiting: w
          rejected: nothing → refreshing, waiting: w
          rejected an older version: nothing → refreshing, waiting: w
          w left: nothing → refreshing
          next released: nobody → refreshing, waiting: w
          refresh succeeded: store a3 → storing, waiting: w
          refresh failed: refuse w: failed, announce: failed → backing off until 0
          refresh rejected: refuse w: rejected, announce: rejected, announce ended: rejected → ended: rejected
          another refresh succeeded: nothing → refreshing, waiting: w
          another refresh failed: nothing → refreshing, waiting: w
          another refresh rejected: nothing → refreshing, waiting: w
          stored: nothing → refreshing, waiting: w
          stored another: nothing → refreshing, waiting: w
          woke up: nothing → refreshing, waiting: w
          observed the same: release → a1 good, releasing, waiting: w
          observed a new one: release → a5 good, releasing, waiting: w
          observed a replaced one: nothing → refreshing, waiting: w
          observed an empty one: nothing → refreshing, waiting: w
          observed a later expiry: release → a1 good, releasing, waiting: w
          observed another refresh token: release → a1 good, releasing, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → a1 good
          signed out: refuse w: signed out → signed out
          loaded: nothing → refreshing, waiting: w
          loaded nothing: nothing → refreshing, waiting: w
          an older load ended: nothing → refreshing, waiting: w
          loading failed: nothing → refreshing, waiting: w
          looked up: nothing → refreshing, waiting: w
          looked up nothing: nothing → refreshing, waiting: w
          looked up in an older generation: nothing → refreshing, waiting: w
          the refresh found the same: stop, release → a1 good, releasing, waiting: w
          the refresh found a newer one: stop, release → a5 good, releasing, waiting: w
          the refresh found nothing: go on with nothing → refreshing, waiting: w
          the refresh found a replaced one: go on with nothing → refreshing, waiting: w
          the refresh found a later expiry: stop, release → a1 good, releasing, waiting: w
          another refresh found a newer one: stop → refreshing, waiting: w
          refresh abandoned: refresh 2 with nothing for w → refreshing, waiting: w
          another refresh abandoned: nothing → refreshing, waiting: w
          not stored: nothing → refreshing, waiting: w
        acquiring failed, backing off until 10
          asked: wait, wake at 10 → backing off until 10, waiting: n
          asked with little time: refuse: failed → backing off until 10
          asked with a stale read: read again → backing off until 10
          asked by an older generation: refuse: signed out → backing off until 10
          signature: none → backing off until 10
          signature of an older generation: outdated → backing off until 10
          accepted: nothing → backing off until 10
          rejected: nothing → backing off until 10
          rejected an older version: nothing → backing off until 10
          w left: nothing → backing off until 10
          next released: nobody → backing off until 10
          refresh succeeded: nothing → backing off until 10
          refresh failed: nothing → backing off until 10
          refresh rejected: nothing → backing off until 10
          another refresh succeeded: nothing → backing off until 10
          another refresh failed: nothing → backing off until 10
          another refresh rejected: nothing → backing off until 10
          stored: nothing → backing off until 10
          stored another: nothing → backing off until 10
          woke up: nothing → backing off until 10
          observed the same: nothing → a1 good
          observed a new one: nothing → a5 good
          observed a replaced one: nothing → backing off until 10
          observed an empty one: nothing → backing off until 10
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 good
          signed out: nothing → signed out
          loaded: nothing → backing off until 10
          loaded nothing: nothing → backing off until 10
          an older load ended: nothing → backing off until 10
          loading failed: nothing → backing off until 10
          looked up: nothing → backing off until 10
          looked up nothing: nothing → backing off until 10
          looked up in an older generation: nothing → backing off until 10
          the refresh found the same: stop → backing off until 10
          the refresh found a newer one: stop → backing off until 10
          the refresh found nothing: stop → backing off until 10
          the refresh found a replaced one: stop → backing off until 10
          the refresh found a later expiry: stop → backing off until 10
          another refresh found a newer one: stop → backing off until 10
          refresh abandoned: nothing → backing off until 10
          another refresh abandoned: nothing → backing off until 10
          not stored: nothing → backing off until 10
        acquiring ended
          asked: wait, load 2 → loading unless rejected, waiting: n
          asked with little time: wait, load 2 → loading unless rejected, waiting: n
          asked with a stale read: read again → ended: rejected
          asked by an older generation: refuse: signed out → ended: rejected
          signature: none → ended: rejected
          signature of an older generation: outdated → ended: rejected
          accepted: nothing → ended: rejected
          rejected: nothing → ended: rejected
          rejected an older version: nothing → ended: rejected
          w left: nothing → ended: rejected
          next released: nobody → ended: rejected
          refresh succeeded: nothing → ended: rejected
          refresh failed: nothing → ended: rejected
          refresh rejected: nothing → ended: rejected
          another refresh succeeded: nothing → ended: rejected
          another refresh failed: nothing → ended: rejected
          another refresh rejected: nothing → ended: rejected
          stored: nothing → ended: rejected
          stored another: nothing → ended: rejected
          woke up: nothing → ended: rejected
          observed the same: nothing → a1 good
          observed a new one: nothing → a5 good
          observed a replaced one: nothing → ended: rejected
          observed an empty one: nothing → ended: rejected
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 good
          signed out: nothing → signed out
          loaded: nothing → ended: rejected
          loaded nothing: nothing → ended: rejected
          an older load ended: nothing → ended: rejected
          loading failed: nothing → ended: rejected
          looked up: nothing → a1 good
          looked up nothing: nothing → ended: rejected
          looked up in an older generation: nothing → ended: rejected
          the refresh found the same: stop → ended: rejected
          the refresh found a newer one: stop → ended: rejected
          the refresh found nothing: stop → ended: rejected
          the refresh found a replaced one: stop → ended: rejected
          the refresh found a later expiry: stop → ended: rejected
          another refresh found a newer one: stop → ended: rejected
          refresh abandoned: nothing → ended: rejected
          another refresh abandoned: nothing → ended: rejected
          not stored: nothing → ended: rejected
        acquired, in leeway
          asked: wait, refresh 1 with  for n → refreshing, waiting: n
          asked with little time: wait, refresh 1 with  for n → refreshing, waiting: n
          asked with a stale read: read again → a1 due
          asked by an older generation: refuse: signed out → a1 due
          signature: a1 → a1 due
          signature of an older generation: outdated → a1 due
          accepted: nothing → a1 due
          rejected: nothing → a1 rejected
          rejected an older version: nothing → a1 due
          w left: nothing → a1 due
          next released: nobody → a1 due
          refresh succeeded: nothing → a1 due
          refresh failed: nothing → a1 due
          refresh rejected: nothing → a1 due
          another refresh succeeded: nothing → a1 due
          another refresh failed: nothing → a1 due
          another refresh rejected: nothing → a1 due
          stored: nothing → a1 due
          stored another: nothing → a1 due
          woke up: nothing → a1 due
          observed the same: nothing → a1 due
          observed a new one: announce changed → a5 good
          observed a replaced one: announce stale store → a1 due
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 due
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 due
          signed out: nothing → signed out
          loaded: nothing → a1 due
          loaded nothing: nothing → a1 due
          an older load ended: nothing → a1 due
          loading failed: nothing → a1 due
          looked up: nothing → a1 due
          looked up nothing: nothing → a1 due
          looked up in an older generation: nothing → a1 due
          the refresh found the same: stop → a1 due
          the refresh found a newer one: stop → a1 due
          the refresh found nothing: stop → a1 due
          the refresh found a replaced one: stop → a1 due
          the refresh found a later expiry: stop → a1 due
          another refresh found a newer one: stop → a1 due
          refresh abandoned: nothing → a1 due
          another refresh abandoned: nothing → a1 due
          not stored: nothing → a1 due
        acquiring instead of a rejected one, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          asked by an older generation: refuse: signed out → refreshing, waiting: w
          signature: none → refreshing, waiting: w
          signature of an older generation: outdated → refreshing, waiting: w
          accepted: nothing → refreshing, waiting: w
          rejected: nothing → refreshing, waiting: w
          rejected an older version: nothing → refreshing, waiting: w
          w left: nothing → refreshing
          next released: nobody → refreshing, waiting: w
          refresh succeeded: store a3 → storing, waiting: w
          refresh failed: refuse w: failed, announce: failed → backing off until 0
          refresh rejected: refuse w: rejected, announce: rejected, announce ended: rejected → ended: rejected
          another refresh succeeded: nothing → refreshing, waiting: w
          another refresh failed: nothing → refreshing, waiting: w
          another refresh rejected: nothing → refreshing, waiting: w
          stored: nothing → refreshing, waiting: w
          stored another: nothing → refreshing, waiting: w
          woke up: nothing → refreshing, waiting: w
          observed the same: nothing → refreshing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a replaced one: announce stale store → refreshing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed a later expiry: nothing → refreshing, waiting: w
          observed another refresh token: nothing → refreshing outdated, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → refreshing
          signed out: refuse w: signed out → signed out
          loaded: nothing → refreshing, waiting: w
          loaded nothing: nothing → refreshing, waiting: w
          an older load ended: nothing → refreshing, waiting: w
          loading failed: nothing → refreshing, waiting: w
          looked up: nothing → refreshing, waiting: w
          looked up nothing: nothing → refreshing, waiting: w
          looked up in an older generation: nothing → refreshing, waiting: w
          the refresh found the same: go on with  → refreshing, waiting: w
          the refresh found a newer one: stop, release, announce changed → a5 good, releasing, waiting: w
          the refresh found nothing: stop, refuse w: signed out, announce signed out → signed out
          the refresh found a replaced one: go on with  → refreshing, waiting: w
          the refresh found a later expiry: go on with  → refreshing, waiting: w
          another refresh found a newer one: stop → refreshing, waiting: w
          refresh abandoned: refresh 2 with  for w → refreshing, waiting: w
          another refresh abandoned: nothing → refreshing, waiting: w
          not stored: nothing → refreshing, waiting: w
        a client's own session, refreshing when rejected, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          asked by an older generation: refuse: signed out → refreshing, waiting: w
          signature: none → refreshing, waiting: w
          signature of an older generation: outdated → refreshing, waiting: w
          accepted: nothing → refreshing, waiting: w
          rejected: nothing → refreshing, waiting: w
          rejected an older version: nothing → refreshing, waiting: w
          w left: nothing → refreshing
          next released: nobody → refreshing, waiting: w
          refresh succeeded: store a3 → storing, waiting: w
          refresh failed: refuse w: failed, announce: failed → backing off until 0
          refresh rejected: refuse w: rejected, announce: rejected, announce ended: rejected → ended: rejected
          another refresh succeeded: nothing → refreshing, waiting: w
          another refresh failed: nothing → refreshing, waiting: w
          another refresh rejected: nothing → refreshing, waiting: w
          stored: nothing → refreshing, waiting: w
          stored another: nothing → refreshing, waiting: w
          woke up: nothing → refreshing, waiting: w
          observed the same: nothing → refreshing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a replaced one: announce stale store → refreshing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed a later expiry: nothing → refreshing, waiting: w
          observed another refresh token: nothing → refreshing outdated, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → refreshing
          signed out: refuse w: signed out → signed out
          loaded: nothing → refreshing, waiting: w
          loaded nothing: nothing → refreshing, waiting: w
          an older load ended: nothing → refreshing, waiting: w
          loading failed: nothing → refreshing, waiting: w
          looked up: nothing → refreshing, waiting: w
          looked up nothing: nothing → refreshing, waiting: w
          looked up in an older generation: nothing → refreshing, waiting: w
          the refresh found the same: go on with  → refreshing, waiting: w
          the refresh found a newer one: stop, release, announce changed → a5 good, releasing, waiting: w
          the refresh found nothing: go on with  → refreshing, waiting: w
          the refresh found a replaced one: go on with  → refreshing, waiting: w
          the refresh found a later expiry: go on with  → refreshing, waiting: w
          another refresh found a newer one: stop → refreshing, waiting: w
          refresh abandoned: refresh 2 with  for w → refreshing, waiting: w
          another refresh abandoned: nothing → refreshing, waiting: w
          not stored: nothing → refreshing, waiting: w

        """
}
