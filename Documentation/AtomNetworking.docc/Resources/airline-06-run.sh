# In the folder of your package:
swift run airline
