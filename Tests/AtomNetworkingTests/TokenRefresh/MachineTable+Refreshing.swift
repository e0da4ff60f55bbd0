extension MachineTable {
    /// A refresh is on its way, or its credential to the store.
    static let whileRefreshing = """
        refreshing in leeway, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          asked by an older generation: refuse: signed out → refreshing, waiting: w
          signature: a1 → refreshing, waiting: w
          signature of an older generation: outdated → refreshing, waiting: w
          accepted: nothing → refreshing, waiting: w
          rejected: nothing → refreshing, waiting: w
          rejected an older version: nothing → refreshing, waiting: w
          w left: nothing → refreshing
          next released: nobody → refreshing, waiting: w
          refresh succeeded: store a3 → storing, waiting: w
          refresh failed: release, announce: failed → a1 good, releasing, waiting: w
          refresh rejected: release, announce: rejected → a1 good, releasing, waiting: w
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
          the refresh found a later expiry: stop, release → a1 good, releasing, waiting: w
          another refresh found a newer one: stop → refreshing, waiting: w
          refresh abandoned: refresh 2 with r1 for w → refreshing, waiting: w
          another refresh abandoned: nothing → refreshing, waiting: w
          not stored: nothing → refreshing, waiting: w
        refreshing when rejected, w waits
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
        refreshing outdated, w waits
          asked: wait → refreshing outdated, waiting: w n
          asked with little time: wait → refreshing outdated, waiting: w n
          asked with a stale read: read again → refreshing outdated, waiting: w
          asked by an older generation: refuse: signed out → refreshing outdated, waiting: w
          signature: none → refreshing outdated, waiting: w
          signature of an older generation: outdated → refreshing outdated, waiting: w
          accepted: nothing → refreshing outdated, waiting: w
          rejected: nothing → refreshing outdated, waiting: w
          rejected an older version: nothing → refreshing outdated, waiting: w
          w left: nothing → refreshing outdated
          next released: nobody → refreshing outdated, waiting: w
          refresh succeeded: refresh 2 with r7 for w → refreshing, waiting: w
          refresh failed: refresh 2 with r7 for w → refreshing, waiting: w
          refresh rejected: refresh 2 with r7 for w → refreshing, waiting: w
          another refresh succeeded: nothing → refreshing outdated, waiting: w
          another refresh failed: nothing → refreshing outdated, waiting: w
          another refresh rejected: nothing → refreshing outdated, waiting: w
          stored: nothing → refreshing outdated, waiting: w
          stored another: nothing → refreshing outdated, waiting: w
          woke up: nothing → refreshing outdated, waiting: w
          observed the same: nothing → refreshing outdated, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a replaced one: announce stale store → refreshing outdated, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed a later expiry: nothing → refreshing outdated, waiting: w
          observed another refresh token: nothing → refreshing outdated, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → a1 rejected
          signed out: refuse w: signed out → signed out
          loaded: nothing → refreshing outdated, waiting: w
          loaded nothing: nothing → refreshing outdated, waiting: w
          an older load ended: nothing → refreshing outdated, waiting: w
          loading failed: nothing → refreshing outdated, waiting: w
          looked up: nothing → refreshing outdated, waiting: w
          looked up nothing: nothing → refreshing outdated, waiting: w
          looked up in an older generation: nothing → refreshing outdated, waiting: w
          the refresh found the same: stop → refreshing outdated, waiting: w
          the refresh found a newer one: stop → refreshing outdated, waiting: w
          the refresh found nothing: stop → refreshing outdated, waiting: w
          the refresh found a replaced one: stop → refreshing outdated, waiting: w
          the refresh found a later expiry: stop → refreshing outdated, waiting: w
          another refresh found a newer one: stop → refreshing outdated, waiting: w
          refresh abandoned: refresh 2 with r7 for w → refreshing, waiting: w
          another refresh abandoned: nothing → refreshing outdated, waiting: w
          not stored: nothing → refreshing outdated, waiting: w
        storing, w waits
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

        """
}
