package api

var sandboxRoutes = []Route{}
