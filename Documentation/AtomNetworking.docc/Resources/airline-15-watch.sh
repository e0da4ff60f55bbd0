# In two terminals at the same time:
swift run airline watch

# When both have ended:
curl http://127.0.0.1:8080/admin/counters
