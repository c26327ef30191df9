package api

var settingsRoutes = []Route{}
