extension TimeSource {
    /// Waits for the duration, or until the task is cancelled.
    func sleep(for duration: Duration, until end: FirstValue<Void> = FirstValue()) async {
        let alarm = makeAlarm { end.settle(()) }
        alarm.set(now.advanced(by: duration))
        await withTaskCancellationHandler {
            await end.value()
        } onCancel: {
            end.settle(())
        }
        alarm.invalidate()
    }
}
