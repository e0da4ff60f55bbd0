# In the checkout of AtomNetworking:
swift run --package-path Example atom serve --port 8080 --token-lifetime 5
