extension MachineTable {
    /// A refresh has failed, or there is nothing to refresh.
    static let afterwards = """
        backing off until 10
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
          observed the same: nothing → backing off until 10
          observed a new one: announce changed → a5 good
          observed a replaced one: announce stale store → backing off until 10
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → backing off until 10
          observed another refresh token: nothing → backing off until 10
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 rejected
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
        backing off until 10, w waits
          asked: wait, wake at 10 → backing off until 10, waiting: w n
          asked with little time: refuse: failed → backing off until 10, waiting: w
          asked with a stale read: read again → backing off until 10, waiting: w
          asked by an older generation: refuse: signed out → backing off until 10, waiting: w
          signature: none → backing off until 10, waiting: w
          signature of an older generation: outdated → backing off until 10, waiting: w
          accepted: nothing → backing off until 10, waiting: w
          rejected: nothing → backing off until 10, waiting: w
          rejected an older version: nothing → backing off until 10, waiting: w
          w left: nothing → backing off until 10
          next released: nobody → backing off until 10, waiting: w
          refresh succeeded: nothing → backing off until 10, waiting: w
          refresh failed: nothing → backing off until 10, waiting: w
          refresh rejected: nothing → backing off until 10, waiting: w
          another refresh succeeded: nothing → backing off until 10, waiting: w
          another refresh failed: nothing → backing off until 10, waiting: w
          another refresh rejected: nothing → backing off until 10, waiting: w
          stored: nothing → backing off until 10, waiting: w
          stored another: nothing → backing off until 10, waiting: w
          woke up: wake at 10 → backing off until 10, waiting: w
          observed the same: nothing → backing off until 10, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a replaced one: announce stale store → backing off until 10, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed a later expiry: nothing → backing off until 10, waiting: w
          observed another refresh token: nothing → backing off until 10, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → a1 rejected
          signed out: refuse w: signed out → signed out
          loaded: nothing → backing off until 10, waiting: w
          loaded nothing: nothing → backing off until 10, waiting: w
          an older load ended: nothing → backing off until 10, waiting: w
          loading failed: nothing → backing off until 10, waiting: w
          looked up: nothing → backing off until 10, waiting: w
          looked up nothing: nothing → backing off until 10, waiting: w
          looked up in an older generation: nothing → backing off until 10, waiting: w
          the refresh found the same: stop → backing off until 10, waiting: w
          the refresh found a newer one: stop → backing off until 10, waiting: w
          the refresh found nothing: stop → backing off until 10, waiting: w
          the refresh found a replaced one: stop → backing off until 10, waiting: w
          the refresh found a later expiry: stop → backing off until 10, waiting: w
          another refresh found a newer one: stop → backing off until 10, waiting: w
          refresh abandoned: nothing → backing off until 10, waiting: w
          another refresh abandoned: nothing → backing off until 10, waiting: w
          not stored: nothing → backing off until 10, waiting: w
        back-off is over, w waits
          asked: wait, refresh 2 with r1 for n → refreshing, waiting: w n
          asked with little time: wait, refresh 2 with r1 for n → refreshing, waiting: w n
          asked with a stale read: read again → backing off until 10, waiting: w
          asked by an older generation: refuse: signed out → backing off until 10, waiting: w
          signature: none → backing off until 10, waiting: w
          signature of an older generation: outdated → backing off until 10, waiting: w
          accepted: nothing → backing off until 10, waiting: w
          rejected: nothing → backing off until 10, waiting: w
          rejected an older version: nothing → backing off until 10, waiting: w
          w left: nothing → backing off until 10
          next released: nobody → backing off until 10, waiting: w
          refresh succeeded: nothing → backing off until 10, waiting: w
          refresh failed: nothing → backing off until 10, waiting: w
          refresh rejected: nothing → backing off until 10, waiting: w
          another refresh succeeded: nothing → backing off until 10, waiting: w
          another refresh failed: nothing → backing off until 10, waiting: w
          another refresh rejected: nothing → backing off until 10, waiting: w
          stored: nothing → backing off until 10, waiting: w
          stored another: nothing → backing off until 10, waiting: w
          woke up: refresh 2 with r1 for w → refreshing, waiting: w
          observed the same: nothing → backing off until 10, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a replaced one: announce stale store → backing off until 10, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed a later expiry: nothing → backing off until 10, waiting: w
          observed another refresh token: nothing → backing off until 10, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → a1 rejected
          signed out: refuse w: signed out → signed out
          loaded: nothing → backing off until 10, waiting: w
          loaded nothing: nothing → backing off until 10, waiting: w
          an older load ended: nothing → backing off until 10, waiting: w
          loading failed: nothing → backing off until 10, waiting: w
          looked up: nothing → backing off until 10, waiting: w
          looked up nothing: nothing → backing off until 10, waiting: w
          looked up in an older generation: nothing → backing off until 10, waiting: w
          the refresh found the same: stop → backing off until 10, waiting: w
          the refresh found a newer one: stop → backing off until 10, waiting: w
          the refresh found nothing: stop → backing off until 10, waiting: w
          the refresh found a replaced one: stop → backing off until 10, waiting: w
          the refresh found a later expiry: stop → backing off until 10, waiting: w
          another refresh found a newer one: stop → backing off until 10, waiting: w
          refresh abandoned: nothing → backing off until 10, waiting: w
          another refresh abandoned: nothing → backing off until 10, waiting: w
          not stored: nothing → backing off until 10, waiting: w
        ended
          asked: refuse: rejected → ended: rejected
          asked with little time: refuse: rejected → ended: rejected
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
          observed the same: nothing → ended: rejected
          observed a new one: announce changed → a5 good
          observed a replaced one: announce stale store → ended: rejected
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → ended: rejected
          observed another refresh token: nothing → a1 rejected
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 rejected
          signed out: nothing → signed out
          loaded: nothing → ended: rejected
          loaded nothing: nothing → ended: rejected
          an older load ended: nothing → ended: rejected
          loading failed: nothing → ended: rejected
          looked up: nothing → ended: rejected
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
        signed out
          asked: refuse: missing → signed out
          asked with little time: refuse: missing → signed out
          asked with a stale read: read again → signed out
          asked by an older generation: refuse: signed out → signed out
          signature: none → signed out
          signature of an older generation: outdated → signed out
          accepted: nothing → signed out
          rejected: nothing → signed out
          rejected an older version: nothing → signed out
          w left: nothing → signed out
          next released: nobody → signed out
          refresh succeeded: nothing → signed out
          refresh failed: nothing → signed out
          refresh rejected: nothing → signed out
          another refresh succeeded: nothing → signed out
          another refresh failed: nothing → signed out
          another refresh rejected: nothing → signed out
          stored: nothing → signed out
          stored another: nothing → signed out
          woke up: nothing → signed out
          observed the same: nothing → signed out
          observed a new one: nothing → a5 good
          observed a replaced one: nothing → signed out
          observed an empty one: nothing → signed out
          observed a later expiry: nothing → signed out
          observed another refresh token: nothing → signed out
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 good
          signed out: nothing → signed out
          loaded: nothing → signed out
          loaded nothing: nothing → signed out
          an older load ended: nothing → signed out
          loading failed: nothing → signed out
          looked up: nothing → signed out
          looked up nothing: nothing → signed out
          looked up in an older generation: nothing → signed out
          the refresh found the same: stop → signed out
          the refresh found a newer one: stop → signed out
          the refresh found nothing: stop → signed out
          the refresh found a replaced one: stop → signed out
          the refresh found a later expiry: stop → signed out
          another refresh found a newer one: stop → signed out
          refresh abandoned: nothing → signed out
          another refresh abandoned: nothing → signed out
          not stored: nothing → signed out

        """
}
