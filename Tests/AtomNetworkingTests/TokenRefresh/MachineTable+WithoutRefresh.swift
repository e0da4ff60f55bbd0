extension MachineTable {
    /// No refresh is on its way.
    static let withoutRefresh = """
        loading, nobody has asked
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
          looked up nothing: nothing → signed out
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
        loading, w waits
          asked: wait → loading, waiting: w n
          asked with little time: wait → loading, waiting: w n
          asked with a stale read: read again → loading, waiting: w
          asked by an older generation: refuse: signed out → loading, waiting: w
          signature: none → loading, waiting: w
          signature of an older generation: outdated → loading, waiting: w
          accepted: nothing → loading, waiting: w
          rejected: nothing → loading, waiting: w
          rejected an older version: nothing → loading, waiting: w
          w left: nothing → loading
          next released: nobody → loading, waiting: w
          refresh succeeded: nothing → loading, waiting: w
          refresh failed: nothing → loading, waiting: w
          refresh rejected: nothing → loading, waiting: w
          another refresh succeeded: nothing → loading, waiting: w
          another refresh failed: nothing → loading, waiting: w
          another refresh rejected: nothing → loading, waiting: w
          stored: nothing → loading, waiting: w
          stored another: nothing → loading, waiting: w
          woke up: nothing → loading, waiting: w
          observed the same: release → a1 good, releasing, waiting: w
          observed a new one: release → a5 good, releasing, waiting: w
          observed a replaced one: nothing → loading, waiting: w
          observed an empty one: nothing → loading, waiting: w
          observed a later expiry: release → a1 good, releasing, waiting: w
          observed another refresh token: release → a1 good, releasing, waiting: w
          signed in: refuse w: signed out → a5 good
          signed in with the same: refuse w: signed out → a1 good
          signed out: refuse w: signed out → signed out
          loaded: release → a1 good, releasing, waiting: w
          loaded nothing: refuse w: missing → signed out
          an older load ended: nothing → loading, waiting: w
          loading failed: refuse w: not readable → loading not started
          looked up: release → a1 good, releasing, waiting: w
          looked up nothing: refuse w: missing → signed out
          looked up in an older generation: nothing → loading, waiting: w
          the refresh found the same: stop → loading, waiting: w
          the refresh found a newer one: stop → loading, waiting: w
          the refresh found nothing: stop → loading, waiting: w
          the refresh found a replaced one: stop → loading, waiting: w
          the refresh found a later expiry: stop → loading, waiting: w
          another refresh found a newer one: stop → loading, waiting: w
          refresh abandoned: nothing → loading, waiting: w
          another refresh abandoned: nothing → loading, waiting: w
          not stored: nothing → loading, waiting: w
        good
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
        good, w is being released
          asked: wait → a2 good, releasing, waiting: w n
          asked with little time: wait → a2 good, releasing, waiting: w n
          asked with a stale read: read again → a2 good, releasing, waiting: w
          asked by an older generation: refuse: signed out → a2 good, releasing, waiting: w
          signature: a2 → a2 good, releasing, waiting: w
          signature of an older generation: outdated → a2 good, releasing, waiting: w
          accepted: nothing → a2 good, releasing, waiting: w
          rejected: nothing → a2 rejected, releasing, waiting: w
          rejected an older version: nothing → a2 good, releasing, waiting: w
          w left: nothing → a2 good, releasing
          next released: w → a2 good, releasing
          refresh succeeded: nothing → a2 good, releasing, waiting: w
          refresh failed: nothing → a2 good, releasing, waiting: w
          refresh rejected: nothing → a2 good, releasing, waiting: w
          another refresh succeeded: nothing → a2 good, releasing, waiting: w
          another refresh failed: nothing → a2 good, releasing, waiting: w
          another refresh rejected: nothing → a2 good, releasing, waiting: w
          stored: nothing → a2 good, releasing, waiting: w
          stored another: nothing → a2 good, releasing, waiting: w
          woke up: nothing → a2 good, releasing, waiting: w
          observed the same: nothing → a2 good, releasing, waiting: w
          observed a new one: announce changed → a5 good, releasing, waiting: w
          observed a replaced one: announce stale store → a2 good, releasing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out, releasing
          observed a later expiry: nothing → a2 good, releasing, waiting: w
          observed another refresh token: nothing → a2 good, releasing, waiting: w
          signed in: refuse w: signed out → a5 good, releasing
          signed in with the same: refuse w: signed out → a2 good, releasing
          signed out: refuse w: signed out → signed out, releasing
          loaded: nothing → a2 good, releasing, waiting: w
          loaded nothing: nothing → a2 good, releasing, waiting: w
          an older load ended: nothing → a2 good, releasing, waiting: w
          loading failed: nothing → a2 good, releasing, waiting: w
          looked up: nothing → a2 good, releasing, waiting: w
          looked up nothing: nothing → a2 good, releasing, waiting: w
          looked up in an older generation: nothing → a2 good, releasing, waiting: w
          the refresh found the same: stop → a2 good, releasing, waiting: w
          the refresh found a newer one: stop → a2 good, releasing, waiting: w
          the refresh found nothing: stop → a2 good, releasing, waiting: w
          the refresh found a replaced one: stop → a2 good, releasing, waiting: w
          the refresh found a later expiry: stop → a2 good, releasing, waiting: w
          another refresh found a newer one: stop → a2 good, releasing, waiting: w
          refresh abandoned: nothing → a2 good, releasing, waiting: w
          another refresh abandoned: nothing → a2 good, releasing, waiting: w
          not stored: nothing → a2 good, releasing, waiting: w
        in leeway
          asked: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with little time: wait, refresh 1 with r1 for n → refreshing, waiting: n
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
        in leeway, a refresh has failed
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
          signed in with the same: nothing → a1 due
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
        expired
          asked: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with little time: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with a stale read: read again → a1 expired
          asked by an older generation: refuse: signed out → a1 expired
          signature: none → a1 expired
          signature of an older generation: outdated → a1 expired
          accepted: nothing → a1 expired
          rejected: nothing → a1 rejected
          rejected an older version: nothing → a1 expired
          w left: nothing → a1 expired
          next released: nobody → a1 expired
          refresh succeeded: nothing → a1 expired
          refresh failed: nothing → a1 expired
          refresh rejected: nothing → a1 expired
          another refresh succeeded: nothing → a1 expired
          another refresh failed: nothing → a1 expired
          another refresh rejected: nothing → a1 expired
          stored: nothing → a1 expired
          stored another: nothing → a1 expired
          woke up: nothing → a1 expired
          observed the same: nothing → a1 expired
          observed a new one: announce changed → a5 good
          observed a replaced one: announce stale store → a1 expired
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → a1 good
          observed another refresh token: nothing → a1 expired
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 expired
          signed out: nothing → signed out
          loaded: nothing → a1 expired
          loaded nothing: nothing → a1 expired
          an older load ended: nothing → a1 expired
          loading failed: nothing → a1 expired
          looked up: nothing → a1 expired
          looked up nothing: nothing → a1 expired
          looked up in an older generation: nothing → a1 expired
          the refresh found the same: stop → a1 expired
          the refresh found a newer one: stop → a1 expired
          the refresh found nothing: stop → a1 expired
          the refresh found a replaced one: stop → a1 expired
          the refresh found a later expiry: stop → a1 expired
          another refresh found a newer one: stop → a1 expired
          refresh abandoned: nothing → a1 expired
          another refresh abandoned: nothing → a1 expired
          not stored: nothing → a1 expired
        rejected
          asked: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with little time: wait, refresh 1 with r1 for n → refreshing, waiting: n
          asked with a stale read: read again → a1 rejected
          asked by an older generation: refuse: signed out → a1 rejected
          signature: none → a1 rejected
          signature of an older generation: outdated → a1 rejected
          accepted: nothing → a1 rejected
          rejected: nothing → a1 rejected
          rejected an older version: nothing → a1 rejected
          w left: nothing → a1 rejected
          next released: nobody → a1 rejected
          refresh succeeded: nothing → a1 rejected
          refresh failed: nothing → a1 rejected
          refresh rejected: nothing → a1 rejected
          another refresh succeeded: nothing → a1 rejected
          another refresh failed: nothing → a1 rejected
          another refresh rejected: nothing → a1 rejected
          stored: nothing → a1 rejected
          stored another: nothing → a1 rejected
          woke up: nothing → a1 rejected
          observed the same: nothing → a1 rejected
          observed a new one: announce changed → a5 good
          observed a replaced one: announce stale store → a1 rejected
          observed an empty one: announce signed out → signed out
          observed a later expiry: nothing → a1 rejected
          observed another refresh token: nothing → a1 rejected
          signed in: nothing → a5 good
          signed in with the same: nothing → a1 rejected
          signed out: nothing → signed out
          loaded: nothing → a1 rejected
          loaded nothing: nothing → a1 rejected
          an older load ended: nothing → a1 rejected
          loading failed: nothing → a1 rejected
          looked up: nothing → a1 rejected
          looked up nothing: nothing → a1 rejected
          looked up in an older generation: nothing → a1 rejected
          the refresh found the same: stop → a1 rejected
          the refresh found a newer one: stop → a1 rejected
          the refresh found nothing: stop → a1 rejected
          the refresh found a replaced one: stop → a1 rejected
          the refresh found a later expiry: stop → a1 rejected
          another refresh found a newer one: stop → a1 rejected
          refresh abandoned: nothing → a1 rejected
          another refresh abandoned: nothing → a1 rejected
          not stored: nothing → a1 rejected

        """
}
