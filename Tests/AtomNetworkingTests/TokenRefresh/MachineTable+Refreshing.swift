extension MachineTable {
    /// A refresh is running, or its result is being stored.
    static let whileRefreshing = """
        refreshing in leeway, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait, wake at 3582.5 → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          signature: a1 → refreshing, waiting: w
          w left: nothing → refreshing
          refresh succeeded: set a3 → storing, waiting: w
          refresh failed: release, announce: failed → a1 good, releasing, waiting: w
          refresh overdue: release, announce: failed → a1 good, releasing, waiting: w
          refresh rejected: release, announce: rejected → a1 good, releasing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → refreshing, waiting: w
          observed a spent one: announce stale store, announce changed, set a7 → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed another refresh token: nothing → refreshing outdated, waiting: w
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → refreshing
          signed in for more: set a5 → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          the refresh found the same: go on with r1 → refreshing, waiting: w
          the refresh found a newer one: stop, release, announce changed → a5 good, releasing, waiting: w
          the refresh found nothing: stop, refuse w: signed out, announce signed out → signed out
          the refresh found what was written over: go on with r1, announce stale store → refreshing, waiting: w
          the refresh token was replaced: write r9 → refreshing, waiting: w
          the refresh found a later expiry: stop, release → a1 good, releasing, waiting: w
          refresh abandoned: refresh 2 with r1 for w, wake at 3590 → refreshing, waiting: w
          woke up: wake at 3590 → refreshing, waiting: w
        refreshing when rejected, w waits
          asked: wait → refreshing, waiting: w n
          asked with little time: wait → refreshing, waiting: w n
          asked with a stale read: read again → refreshing, waiting: w
          w left: nothing → refreshing
          refresh succeeded: set a3 → storing, waiting: w
          refresh failed: refuse w: failed, announce: failed → backing off until 0
          refresh overdue: refuse w: failed, announce: failed → backing off until 10
          refresh rejected: refuse w: rejected, announce: rejected, announce ended: rejected → ended: rejected
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → refreshing, waiting: w
          observed a spent one: announce stale store, announce changed, set a7 → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          observed another refresh token: nothing → refreshing outdated, waiting: w
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → refreshing
          signed in for more: set a5 → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          the refresh found the same: go on with r1 → refreshing, waiting: w
          the refresh found a newer one: stop, release, announce changed → a5 good, releasing, waiting: w
          the refresh found nothing: stop, refuse w: signed out, announce signed out → signed out
          the refresh found what was written over: go on with r1, announce stale store → refreshing, waiting: w
          the refresh token was replaced: write r9 → refreshing, waiting: w
          the refresh found a later expiry: go on with r1 → refreshing, waiting: w
          refresh abandoned: refresh 2 with r1 for w → refreshing, waiting: w
        refreshing outdated, w waits
          asked: wait → refreshing outdated, waiting: w n
          asked with little time: wait → refreshing outdated, waiting: w n
          asked with a stale read: read again → refreshing outdated, waiting: w
          w left: nothing → refreshing outdated
          refresh succeeded: refresh 2 with r7 for w → refreshing, waiting: w
          refresh failed: refresh 2 with r7 for w → refreshing, waiting: w
          refresh overdue: refresh 2 with r7 for w → refreshing, waiting: w
          refresh rejected: refresh 2 with r7 for w → refreshing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed what was written over: announce stale store → refreshing outdated, waiting: w
          observed a spent one: announce stale store, announce changed, set a7 → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → a1 good
          signed in for more: set a5 → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          refresh abandoned: refresh 2 with r7 for w → refreshing, waiting: w
        storing, w waits
          asked: wait → storing, waiting: w n
          asked with little time: wait → storing, waiting: w n
          asked with a stale read: read again → storing, waiting: w
          w left: nothing → storing
          stored: release, announce refreshed → a2 good, releasing, waiting: w
          observed a new one: release, announce changed → a5 good, releasing, waiting: w
          observed a spent one: announce changed, set a7 → storing, waiting: w
          observed an empty one: refuse w: signed out, announce signed out → signed out
          signed in: refuse w: signed out, announce signed in → a5 good
          signed in with the same: refuse w: signed out, announce signed in → storing
          signed in for more: set a5 → storing, waiting: w
          signed out: refuse w: signed out, announce signed out → signed out
          not stored: release, announce not stored, announce refreshed → a2 good, releasing, waiting: w
        refreshing in leeway, silent
          asked: go → refreshing silently
          asked with little time: go → refreshing silently
          asked with a stale read: read again → refreshing silently
          signature: a1 → refreshing silently
          refresh succeeded: set a3 → storing
          refresh failed: announce: failed → a1 good
          refresh overdue: announce: failed → a1 good
          refresh rejected: announce: rejected → a1 good
          observed a new one: announce changed → a5 good
          observed what was written over: announce stale store → refreshing silently
          observed a spent one: announce stale store, announce changed, set a7 → storing
          observed an empty one: announce signed out → signed out
          observed another refresh token: nothing → refreshing outdated
          signed in: announce signed in → a5 good
          signed in with the same: announce signed in → refreshing silently
          signed in for more: set a5 → storing
          signed out: announce signed out → signed out
          the refresh found the same: stop → a1 good
          the refresh found a newer one: stop, announce changed → a5 good
          the refresh found nothing: stop, announce signed out → signed out
          the refresh found what was written over: stop, announce stale store → a1 good
          the refresh token was replaced: write r9 → refreshing silently
          the refresh found a later expiry: stop → a1 good
          refresh abandoned: nothing → a1 good
        """
}
