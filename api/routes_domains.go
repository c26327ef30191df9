package api

var domainRoutes = []Route{}
