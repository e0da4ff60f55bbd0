extension MachineTable {
    /// The session reads and writes a store.
    static let inStore = """
        good, in a store
          asked: go → a1 good
          asked with little time: go → a1 good
          asked with a stale read: read again → a1 good
          asked by an older generation: refuse: signed out → a1 good
          signature: a1 → a1 good
          signature of an older generation: outdated → a1 good
          accepted: nothing → a1 good
          rejected: nothing → a1 rejected
          rejected an older version: nothing → a1 good
          w left: nothing → a1 good
          next released: nobody → a1 good
          refresh succeeded: nothing → a1 good
          refresh failed: nothing → a1 good
          refresh rejected: nothing → a1 good
          another refresh succeeded: nothing → a1 good
          another refresh failed: nothing → a1 good
          another refresh rejected: nothing → a1 good
          stored: nothing → a1 good
          stored another: nothing → a1 good
          woke up: nothing → a1 good
          observed the same: nothing → a1 good
          observed a new one: announce changed → a5 good
          observed a replaced one: announce stale store → a1 good
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 good
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 good
          signed out: nothing → signed out
          loaded: nothing → a1 good
          loaded nothing: nothing → a1 good
          an older load ended: nothing → a1 good
          loading failed: nothing → a1 good
          looked up: nothing → a1 good
          looked up nothing: nothing → a1 good
          looked up in an older generation: nothing → a1 good
          the refresh found the same: stop → a1 good
          the refresh found a newer one: stop → a1 good
          the refresh found nothing: stop → a1 good
          the refresh found a replaced one: stop → a1 good
          the refresh found a later expiry: stop → a1 good
          another refresh found a newer one: stop → a1 good
          refresh abandoned: nothing → a1 good
          another refresh abandoned: nothing → a1 good
          not stored: nothing → a1 good
        refreshing in a store, w waits
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
          the refresh found the same: go on with r1 → refreshing, waiting: w
          the refresh found a newer one: stop, release, announce changed → a5 good, releasing, waiting: w
          the refresh found nothing: stop, refuse w: signed out, announce signed out → signed out
          the refresh found a replaced one: go on with r1 → refreshing, waiting: w
          the refresh found a later expiry: go on with r1 → refreshing, waiting: w
          another refresh found a newer one: stop → refreshing, waiting: w
          refresh abandoned: refresh 2 with r1 for w → refreshing, waiting: w
          another refresh abandoned: nothing → refreshing, waiting: w
          not stored: nothing → refreshing, waiting: w
        storing in a store, w waits
          asked: wait → storing, waiting: w n
          asked with little time: wait → storing, waiting: w n
          asked with a stale read: read again → storing, waiting: w
          asked by an older generation: refuse: signed out → storing, waiting: w
          signature: none → storing, waiting: w
          signature of an older generation: outdated → storing, waiting: w
          accepted: nothing → storing, waiting: w
          rejected: nothing → storing, waiting: w
          rejected an older version: nothing → storing, waiting: w
          w left: nothing → storing
          next released: nobody → storing, waiting: w
          refresh succeeded: nothing → storing, waiting: w
          refresh failed: nothing → storing, waiting: w
          refresh rejected: nothing → storing, waiting: w
          another refresh succeeded: nothing → storing, waiting: w
          another refresh failed: nothing → storing, waiting: w
          another refresh rejected: nothing → storing, waiting: w
          stored: release → a2 good, releasing, waiting: w
          stored another: nothing → storing, waiting: w
          woke up: nothing → storing, waiting: w
          observed the same: nothing → storing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a replaced one: nothing → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed a later expiry: nothing → storing, waiting: w
          observed another refresh token: nothing → storing, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → a2 good
          signed out: refuse w: signed out → signed out
          loaded: nothing → storing, waiting: w
          loaded nothing: nothing → storing, waiting: w
          an older load ended: nothing → storing, waiting: w
          loading failed: nothing → storing, waiting: w
          looked up: nothing → storing, waiting: w
          looked up nothing: nothing → storing, waiting: w
          looked up in an older generation: nothing → storing, waiting: w
          the refresh found the same: stop → storing, waiting: w
          the refresh found a newer one: stop → storing, waiting: w
          the refresh found nothing: stop → storing, waiting: w
          the refresh found a replaced one: stop → storing, waiting: w
          the refresh found a later expiry: stop → storing, waiting: w
          another refresh found a newer one: stop → storing, waiting: w
          refresh abandoned: nothing → storing, waiting: w
          another refresh abandoned: nothing → storing, waiting: w
          not stored: release, announce not stored → a2 good, releasing, waiting: w
        loading before the end, w waits
          asked: wait → loading unless missing, waiting: w n
          asked with little time: wait → loading unless missing, waiting: w n
          asked with a stale read: read again → loading unless missing, waiting: w
          asked by an older generation: refuse: signed out → loading unless missing, waiting: w
          signature: none → loading unless missing, waiting: w
          signature of an older generation: outdated → loading unless missing, waiting: w
          accepted: nothing → loading unless missing, waiting: w
          rejected: nothing → loading unless missing, waiting: w
          rejected an older version: nothing → loading unless missing, waiting: w
          w left: nothing → loading unless missing
          next released: nobody → loading unless missing, waiting: w
          refresh succeeded: nothing → loading unless missing, waiting: w
          refresh failed: nothing → loading unless missing, waiting: w
          refresh rejected: nothing → loading unless missing, waiting: w
          another refresh succeeded: nothing → loading unless missing, waiting: w
          another refresh failed: nothing → loading unless missing, waiting: w
          another refresh rejected: nothing → loading unless missing, waiting: w
          stored: nothing → loading unless missing, waiting: w
          stored another: nothing → loading unless missing, waiting: w
          woke up: nothing → loading unless missing, waiting: w
          observed the same: nothing → loading unless missing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a replaced one: announce stale store → loading unless missing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed a later expiry: nothing → loading unless missing, waiting: w
          observed another refresh token: nothing → loading unless missing, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → a1 rejected
          signed out: refuse w: signed out → signed out
          loaded: refresh 1 with r1 for w → refreshing, waiting: w
          loaded nothing: refuse w: signed out, announce signed out → signed out
          an older load ended: nothing → loading unless missing, waiting: w
          loading failed: refuse w: not readable → loading not started unless missing
          looked up: refresh 1 with r1 for w → refreshing, waiting: w
          looked up nothing: refuse w: signed out, announce signed out → signed out
          looked up in an older generation: nothing → loading unless missing, waiting: w
          the refresh found the same: stop → loading unless missing, waiting: w
          the refresh found a newer one: stop → loading unless missing, waiting: w
          the refresh found nothing: stop → loading unless missing, waiting: w
          the refresh found a replaced one: stop → loading unless missing, waiting: w
          the refresh found a later expiry: stop → loading unless missing, waiting: w
          another refresh found a newer one: stop → loading unless missing, waiting: w
          refresh abandoned: nothing → loading unless missing, waiting: w
          another refresh abandoned: nothing → loading unless missing, waiting: w
          not stored: nothing → loading unless missing, waiting: w
        ended, in a store
          asked: wait, load 1 → loading unless rejected, waiting: n
          asked with little time: wait, load 1 → loading unless rejected, waiting: n
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
          looked up nothing: announce signed out → signed out
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
        loading after the end, w waits
          asked: wait → loading unless rejected, waiting: w n
          asked with little time: wait → loading unless rejected, waiting: w n
          asked with a stale read: read again → loading unless rejected, waiting: w
          asked by an older generation: refuse: signed out → loading unless rejected, waiting: w
          signature: none → loading unless rejected, waiting: w
          signature of an older generation: outdated → loading unless rejected, waiting: w
          accepted: nothing → loading unless rejected, waiting: w
          rejected: nothing → loading unless rejected, waiting: w
          rejected an older version: nothing → loading unless rejected, waiting: w
          w left: nothing → loading unless rejected
          next released: nobody → loading unless rejected, waiting: w
          refresh succeeded: nothing → loading unless rejected, waiting: w
          refresh failed: nothing → loading unless rejected, waiting: w
          refresh rejected: nothing → loading unless rejected, waiting: w
          another refresh succeeded: nothing → loading unless rejected, waiting: w
          another refresh failed: nothing → loading unless rejected, waiting: w
          another refresh rejected: nothing → loading unless rejected, waiting: w
          stored: nothing → loading unless rejected, waiting: w
          stored another: nothing → loading unless rejected, waiting: w
          woke up: nothing → loading unless rejected, waiting: w
          observed the same: nothing → loading unless rejected, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a replaced one: announce stale store → loading unless rejected, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed a later expiry: nothing → loading unless rejected, waiting: w
          observed another refresh token: nothing → loading unless rejected, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → a1 rejected
          signed out: refuse w: signed out → signed out
          loaded: refuse w: rejected → ended: rejected
          loaded nothing: refuse w: signed out, announce signed out → signed out
          an older load ended: nothing → loading unless rejected, waiting: w
          loading failed: refuse w: not readable → loading not started unless rejected
          looked up: refuse w: rejected → ended: rejected
          looked up nothing: refuse w: signed out, announce signed out → signed out
          looked up in an older generation: nothing → loading unless rejected, waiting: w
          the refresh found the same: stop → loading unless rejected, waiting: w
          the refresh found a newer one: stop → loading unless rejected, waiting: w
          the refresh found nothing: stop → loading unless rejected, waiting: w
          the refresh found a replaced one: stop → loading unless rejected, waiting: w
          the refresh found a later expiry: stop → loading unless rejected, waiting: w
          another refresh found a newer one: stop → loading unless rejected, waiting: w
          refresh abandoned: nothing → loading unless rejected, waiting: w
          another refresh abandoned: nothing → loading unless rejected, waiting: w
          not stored: nothing → loading unless rejected, waiting: w
        signed out, in a store
          asked: wait, load 1 → loading, waiting: n
          asked with little time: wait, load 1 → loading, waiting: n
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
