# The modules in the order of the data flow; src/LAYERS says which may include which.
set(DEEPGAP_MODULES base stats core ops graph hw trace run store report session)
