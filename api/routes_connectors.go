package api

var connectorRoutes = []Route{}
